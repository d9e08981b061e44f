"""Replicas of a command, as processes with the variables that the operator gives a pod."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kastor.conformance.operator import JOB, NAMESPACE, PROTOCOL, ScriptedOperator

ENDLESS = 10**12
"""Steps of work that no scene sees the end of."""

_DEFAULT_SPEC: dict[str, Any] = {
    "elastic": {"minReplicas": 1, "maxReplicas": 4},
    "goodput": {
        "batchSize": {"initial": 32, "max": 256, "perDevice": {"min": 1, "max": 128}, "gradientAccumulation": True}
    },
    "checkpoint": {"intervalSeconds": 1, "keepLast": 2},
}
_SECRET = b"0123456789abcdef" * 2
_LAST_LINES = 2000


def merged(spec: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Spec with the fields of another one in place of its own."""
    found = dict(spec)
    for name, value in more.items():
        both = isinstance(found.get(name), dict) and isinstance(value, dict)
        found[name] = merged(found[name], value) if both else value
    return found


class Replicas:
    """Replicas of one job: processes that a kubelet would run.

    Args:
        folder: for tokens, checkpoints, outcomes and what they print.
        operator: of the job.
        command: that starts a replica.
        spec: fields of the job's spec beside those that the kit sets itself.

    ``variables`` are further ones of each replica that is started.
    """

    def __init__(
        self, folder: Path, operator: ScriptedOperator, command: Sequence[str], spec: Mapping[str, Any]
    ) -> None:
        self.folder, self._operator, self._command = folder, operator, command
        self._spec = merged(_DEFAULT_SPEC, spec)
        self.ended: dict[str, int] = {}
        self.hidden_deaths: set[str] = set()
        self.variables: dict[str, str] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._watchers: list[threading.Thread] = []
        (folder / "ring").write_bytes(_SECRET)
        (folder / "checkpoints").mkdir()

    def start(self, pod: str, steps: int = ENDLESS, protocol: int = PROTOCOL) -> None:
        """Starts a replica of a job with so many steps of work, under an operator of that protocol."""
        self._operator.protocols[pod] = protocol
        self.write_token(pod, self._operator.token(pod))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KASTOR_")}
        environment.update(self._environment(pod, steps, protocol))
        with (self.folder / f"{pod}.log").open("wb") as log:
            process = subprocess.Popen(
                self._command,
                env=environment,
                # A replica that ends with its parent waits for the end of its input.
                stdin=subprocess.PIPE if "KASTOR_EXIT_WITH_PARENT" in self.variables else subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes[pod] = process
        watcher = threading.Thread(target=self._watch, args=(pod, process), daemon=True)
        watcher.start()
        self._watchers.append(watcher)

    def _environment(self, pod: str, steps: int, protocol: int) -> dict[str, str]:
        return {
            "KASTOR_NAMESPACE": NAMESPACE,
            "KASTOR_JOB": JOB,
            "KASTOR_JOB_UID": "uid-1",
            "KASTOR_POD": pod,
            "KASTOR_NODE": f"node-{pod}",
            "KASTOR_POD_IP": "127.0.0.1",
            "KASTOR_PROTOCOL": str(protocol),
            "KASTOR_OPERATOR_URL": self._operator.url,
            "KASTOR_CA_FILE": str(self._operator.ca),
            "KASTOR_TOKEN_FILE": str(self.folder / f"{pod}.token"),
            "KASTOR_RING_SECRET_FILE": str(self.folder / "ring"),
            "KASTOR_RING_ENCRYPTION": "none",
            "KASTOR_CHECKPOINT_DIR": str(self.folder / "checkpoints"),
            "KASTOR_JOB_SPEC": json.dumps(merged(self._spec, {"goodput": {"work": {"steps": steps}}})),
            "KASTOR_TERMINATION_LOG": str(self.folder / f"{pod}.outcome"),
            "KASTOR_TERMINATION_GRACE_SECONDS": "30",
            "KASTOR_LOCAL_SLOTS": "1",
            "KASTOR_THREADS": "1",
            **self.variables,
        }

    def write_token(self, pod: str, token: str) -> None:
        """Puts a token into the file of a replica, whole."""
        file = self.folder / f"{pod}.token"
        temporary = file.with_suffix(".new")
        temporary.write_text(token + "\n")
        temporary.replace(file)

    def _watch(self, pod: str, process: subprocess.Popen[bytes]) -> None:
        status = process.wait()
        with self._operator.changed:
            self.ended[pod] = status
            self._operator.changed.notify_all()
            if pod not in self.hidden_deaths:
                self._operator.died(pod)

    def signal(self, pod: str, number: signal.Signals) -> None:
        """Sends a replica a signal."""
        self._processes[pod].send_signal(number)

    def outcome(self, pod: str) -> dict[str, Any] | None:
        """Last words of a replica; None where it left none that are JSON."""
        try:
            found = json.loads((self.folder / f"{pod}.outcome").read_text())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def checkpoints(self) -> dict[str, int]:
        """Files of the job's checkpoints and their sizes."""
        files = [file for file in (self.folder / "checkpoints").rglob("*") if file.is_file()]
        return {str(file): file.stat().st_size for file in files}

    def printed(self, pod: str) -> str:
        """End of what a replica printed."""
        file = self.folder / f"{pod}.log"
        return file.read_text(errors="replace")[-_LAST_LINES:] if file.exists() else ""

    def close(self) -> None:
        """Ends all that still run, with what they started, by their groups."""
        for pod, process in self._processes.items():
            if process.poll() is None:
                self.hidden_deaths.add(pod)
                os.killpg(process.pid, signal.SIGKILL)
            if process.stdin is not None:
                process.stdin.close()
        for watcher in self._watchers:
            watcher.join(10)
