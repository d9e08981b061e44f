"""Processes of pods, as scripts of the tests have them.

Most are forked from a process that has imported PyTorch: its import and that of its compiler take five seconds of a
processor, and a training of the tests less than one. What they run, they run as the main program of a process of their
own, with the variables of their pod alone; what depends on how PyTorch was loaded has an interpreter of its own.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import IO, Any, Protocol

HERE = Path(__file__).parent
TORCH = ("numpy", "torch", "torch._dynamo", "torch.distributed", "kastor.torch")
FRAMEWORKS = {
    "lightning": ("lightning.pytorch", "kastor.lightning"),
    "transformers": ("transformers.trainer", "transformers.models.gpt2", "kastor.transformers"),
}


def python_path() -> str:
    """Folders of what scripts import."""
    return os.pathsep.join([str(HERE.parent / "src"), str(HERE / "scripts"), os.environ.get("PYTHONPATH", "")])


class Process(Protocol):
    """Process of a pod."""

    def wait(self) -> int:
        """Exit status, once it has ended."""

    def send_signal(self, sig: int) -> None:
        """Sends a signal, unless it has ended."""

    def terminate(self) -> None:
        """Asks it to end."""

    def kill(self) -> None:
        """Ends it at once."""


def interpreter(script: Path, environment: Mapping[str, str], log: Path) -> Process:
    """Script in an interpreter of its own, whose output is added to a log."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-u", str(script)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


class Forked:
    """Process that another one than this has forked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._ended = threading.Event()
        self._status = 0
        self._signals = threading.Lock()

    def end(self, status: int) -> None:
        """Notes that it has ended; until then nobody else has its number."""
        with self._signals:
            self._status = status
            self._ended.set()

    def wait(self) -> int:
        """Exit status, once it has ended."""
        self._ended.wait()
        return self._status

    def send_signal(self, sig: int) -> None:
        """Sends a signal, unless it has ended."""
        with self._signals:
            if not self._ended.is_set():
                os.kill(self.pid, sig)

    def terminate(self) -> None:
        """Asks it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it at once."""
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """Process that has imported modules, and forks.

    Args:
        modules: that it imports.
        variables: of its environment, which modules read when they are imported.
    """

    def __init__(self, modules: Sequence[str] = TORCH, **variables: str) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": python_path(),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONWARNINGS": "ignore",
            "HF_HUB_OFFLINE": "1",
            # Threads that it started would be missing in what it forks.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            **variables,
        }
        program = f"import pods; exec(pods.forked({list(modules)!r}))"
        self._server = subprocess.Popen(
            [sys.executable, "-u", "-c", program],
            cwd=HERE,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._forked: dict[int, Forked] = {}
        self._one_at_a_time, self._told = threading.Lock(), threading.Condition()
        self._newest: Forked | None = None
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def start(self, script: Path, environment: Mapping[str, str], log: Path) -> Process:
        """Script in a forked process, whose output is added to a log."""
        request = {"script": str(script), "environment": dict(environment), "log": str(log)}
        with self._one_at_a_time:
            _pipe(self._server.stdin).write(json.dumps(request).encode() + b"\n")
            _pipe(self._server.stdin).flush()
            with self._told:
                self._told.wait_for(lambda: self._newest is not None or not self._listener.is_alive())
                started, self._newest = self._newest, None
        assert started is not None, "the process that forks has ended"
        return started

    def _listen(self) -> None:
        for line in _pipe(self._server.stdout):
            told = json.loads(line)
            if "status" in told:
                self._forked.pop(told["pid"]).end(told["status"])
            else:
                with self._told:
                    self._newest = self._forked[told["pid"]] = Forked(told["pid"])
                    self._told.notify_all()
        with self._told:
            self._told.notify_all()

    def close(self) -> None:
        """Ends it."""
        _pipe(self._server.stdin).close()
        self._server.wait()
        self._listener.join()
        _pipe(self._server.stdout).close()


class ForkServers:
    """Processes that fork, one for each set of modules that scripts import, made when one is needed."""

    def __init__(self) -> None:
        self._made: dict[str, ForkServer] = {}

    def of(self, script: str) -> ForkServer:
        """Process that forks those of a script."""
        (framework,) = [name for name in ("lightning", "transformers") if name in script] or [""]
        if framework not in self._made:
            self._made[framework] = ForkServer((*TORCH, *FRAMEWORKS.get(framework, ())))
        return self._made[framework]

    def close(self) -> None:
        """Ends them."""
        for each in self._made.values():
            each.close()


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    assert end is not None
    return end


def forked(modules: Sequence[str]) -> CodeType:
    """Script that a forked process is to run; the process that forks ends here, once its input does."""
    for module in modules:
        importlib.import_module(module)
    # Steps of groups that train for a second are measured in tests.
    importlib.import_module("kastor.telemetry").ColdReplicas.SECONDS = 0.0
    poll = select.poll()
    poll.register(0, select.POLLIN | select.POLLHUP)
    pids: dict[int, int] = {}
    while True:
        for descriptor, _ in poll.poll():
            if descriptor != 0:
                pid, status = os.waitpid(pids.pop(descriptor), 0)
                poll.unregister(descriptor)
                os.close(descriptor)
                print(json.dumps({"pid": pid, "status": os.waitstatus_to_exitcode(status)}))
                continue
            line = sys.stdin.buffer.readline()
            if not line:
                sys.exit()
            request = json.loads(line)
            child = os.fork()
            if child == 0:
                for each in pids:
                    os.close(each)
                return _become(**request)
            print(json.dumps({"pid": child}))
            descriptor = os.pidfd_open(child)
            pids[descriptor] = child
            poll.register(descriptor, select.POLLIN)


def _become(script: str, environment: dict[str, str], log: str) -> CodeType:
    nothing, output = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(output)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.argv[:] = [script]
    sys.path[0] = str(Path(script).parent)
    main: Any = sys.modules["__main__"]
    main.__file__ = script
    del main.pods
    return compile(Path(script).read_bytes(), script, "exec", dont_inherit=True)
