"""Kastor on this machine, as ``kastor up`` runs it, for tests."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 900
"""What a test waits for at most: many times what it takes on a machine with other work."""
SLOTS = 4
HANG_TIMEOUT_SECONDS = 15


def built() -> None:
    """Builds Kastor where sources are newer than the build."""
    subprocess.run([str(ROOT / "kastor"), "version"], check=True, capture_output=True, timeout=PATIENCE_SECONDS)


def until(what: str, holds: Callable[[], Any]) -> None:
    """Waits until something holds."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end, f"Not within {PATIENCE_SECONDS} s: {what}"
        time.sleep(0.1)


class Started:
    """Process whose output goes to a file."""

    def __init__(self, command: list[str], environment: Mapping[str, str] | None, output: Path) -> None:
        self.output = output
        with output.open("wb") as file:
            # With its own input, so that it is no part of a terminal, and in a group, as it may start others.
            self.process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def said(self) -> str:
        """Output so far."""
        return self.output.read_text(errors="replace")

    def wait_until(self, what: str, holds: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> None:
        """Waits until something holds; fails at once where the process has ended before."""
        end = time.monotonic() + seconds
        while not holds():
            ended = self.process.poll() is not None and not holds()
            assert not ended, f"It ended before: {what}\n{self.said()[-6000:]}"
            assert time.monotonic() < end, f"Not within {seconds:.0f} s: {what}\n{self.said()[-6000:]}"
            time.sleep(0.1)

    def ends(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Exit status, once it has ended."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"It has not ended within {seconds:.0f} s.\n{self.said()[-6000:]}") from None

    def end(self, how: int = signal.SIGKILL, seconds: float = 120) -> None:
        """Ends it, and what it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, how)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()


class LocalKastor:
    """Cluster of this machine with a folder of its own, of a Kastor that was built."""

    def __init__(self, folder: Path) -> None:
        """Starts it in a folder of its own."""
        self.folder = folder
        (folder / "tmp").mkdir()
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("KASTOR_")},
            "KASTOR_AS_BUILT": "true",
            "KASTOR_HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
            "PYTHONPATH": str(ROOT / "python" / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "OMP_NUM_THREADS": "1",
        }
        settings = {
            # A pin holds from the next round on, which on one machine comes every 10 s.
            "JAVA_TOOL_OPTIONS": "-Dkastor.round-interval=1s",
            "KASTOR_HANG_TIMEOUT": f"{HANG_TIMEOUT_SECONDS}s",
        }
        # Commands answer soon although trainings keep all processors busy; others' work does not stop trainings.
        # Jobs grow to all slots, however few cores there are.
        slots = ["--slots", str(SLOTS), "--devices", str(SLOTS)]
        command = ["nice", "-n", "5", str(ROOT / "kastor"), "up", *slots, "--port", "0"]
        self._up = Started(command, {**self.environment, **settings}, folder / "up.log")
        try:
            self._up.wait_until("kastor up says where it is", lambda: "kubeconfig" in self._up.said())
        except BaseException:
            self.close()
            raise

    def start(self, name: str, *arguments: str) -> Started:
        """Starts a command of kastor, whose output goes to a file of that name."""
        return Started([str(ROOT / "kastor"), *arguments], self.environment, self.folder / f"{name}.log")

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a command of kastor."""
        return subprocess.run(
            [str(ROOT / "kastor"), *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def job(self, name: str) -> dict[str, Any]:
        """TrainingJob as the cluster has it."""
        found: dict[str, Any] = json.loads(self.command("get", name, "-o", "json").stdout)
        return found

    def submit(self, name: str, script: Path, replicas: tuple[int, int], **variables: str) -> Started:
        """Submits a job of a script of the tests and follows it to its end; its first failure costs no time."""
        own = ("PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
        environment = {**{each: self.environment[each] for each in own}, "PYTHONUNBUFFERED": "1", **variables}
        container = {
            "name": "main",
            "image": "this-machine",
            "command": [sys.executable, str(script)],
            "env": [{"name": key, "value": value.replace("$", "$$")} for key, value in environment.items()],
        }
        manifest = {
            "apiVersion": "kastor.dev/v1alpha1",
            "kind": "TrainingJob",
            "metadata": {"name": name},
            "spec": {
                "elastic": {"minReplicas": replicas[0], "maxReplicas": replicas[1]},
                "goodput": {"mode": "Fixed", "batchSize": {"initial": 32}},
                "checkpoint": {"intervalSeconds": 1},
                "faultTolerance": {"backoffSeconds": 0},
                "template": {"spec": {"containers": [container]}},
            },
        }
        file = self.folder / f"{name}.yaml"
        file.write_text(json.dumps(manifest))
        return self.start(name, "submit", "-f", str(file), "--wait")

    def replicas(self, job: str) -> list[int]:
        """Processes of a job's replicas: by their logs, as a spare began without the variables of its pod."""
        log = re.compile(rf"{re.escape(str(self.folder))}/home/logs/[^/]+/{re.escape(job)}-[0-9]+\.log")
        found = []
        for pid, _ in self._processes():
            with contextlib.suppress(OSError):  # it ended meanwhile
                if log.fullmatch(os.readlink(f"/proc/{pid}/fd/1")):
                    found.append(pid)
        return found

    def operator(self) -> list[int]:
        """Process of the operator, none while there is none."""
        return [pid for pid, variables in self._processes() if any(v.startswith(b"KASTOR_POLICY=") for v in variables)]

    def left(self) -> list[int]:
        """Processes that were started for this cluster and have not ended."""
        return [pid for pid, _ in self._processes()]

    def _processes(self) -> Iterator[tuple[int, list[bytes]]]:
        mark = str(self.folder / "home").encode()
        for file in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):  # it ended meanwhile, or is not ours
                text = file.read_bytes()
                if mark in text:
                    yield int(file.parent.name), text.split(b"\0")

    def pin(self, name: str, replicas: int, run: Started) -> None:
        """Pins a job that is followed by ``run`` to a number of replicas and waits until so many train."""

        def pinned() -> bool:
            return self.command("pin", name, "--at", str(replicas)).returncode == 0

        run.wait_until(f"{name} is pinned to {replicas}", pinned)
        run.wait_until(f"{name} trains with {replicas}", lambda: sizes(run.said())[-1:] == [replicas])

    def clear(self) -> None:
        """Removes all jobs, so that those of one test take no slots from the next."""
        removed = self.command("rm", "--all")
        assert removed.returncode == 0 or "there is no such job" in removed.stderr, removed.stderr

    def close(self) -> None:
        """Ends the cluster and all its pods."""
        self._up.end(signal.SIGINT)


def sizes(output: str) -> list[int]:
    """Numbers of replicas that a job trained with, one after the other, as its oldest replica said."""
    generations = [int(size) for size in re.findall(r"rank \d+ of (\d+) in generation", output)]
    return [size for size, _ in itertools.groupby(generations)]
