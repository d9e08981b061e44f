"""Cluster of `kastor up` for a benchmark: it is started, given jobs, asked how they are, and ended."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
KASTOR = str(ROOT / "kastor")
_JOBS = "/apis/kastor.dev/v1alpha1/namespaces/default/trainingjobs"
_START_SECONDS = 600
_ANSWER_SECONDS = 60
_UNAVAILABLE = 503


class LocalKastor:
    """Cluster on this machine, in a folder of its own. One thread uses it."""

    def __init__(self, home: Path, slots: int, policy: str, *options: str) -> None:
        """Starts it and waits until it answers.

        Args:
            home: folder for its state; made if it is not there.
            slots: of the machine.
            policy: name of the policy, with options.
            options: of `kastor up` beside these.

        Raises:
            RuntimeError: if it does not come up; the message has the end of its output.
        """
        home.mkdir(parents=True, exist_ok=True)
        self.home, self._policy = home, policy
        self.environment = environment(home)
        self._log = home / "up.log"
        with self._log.open("wb") as log:
            self._up = subprocess.Popen(
                [KASTOR, "up", "--slots", str(slots), "--policy", policy, "--port", "0", *options],
                env=self.environment,
                stdout=log,
                stderr=log,
            )
        try:
            self._await_ready()
            config = json.loads((home / "kubeconfig").read_text())
            cluster = config["clusters"][0]["cluster"]
            authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
            self._trust = ssl.create_default_context(cadata=authority)
            self._server, self._token = cluster["server"], config["users"][0]["user"]["token"]
        except BaseException:
            self.close()
            raise

    def _await_ready(self) -> None:
        end = time.monotonic() + _START_SECONDS
        while True:
            text = self._log.read_text(errors="replace")
            found = re.search(r"http://127\.0\.0\.1:\d+", text)
            if found and "Submit jobs" in text:
                self._page = found[0]
                return
            if self._up.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"kastor up did not come up: {text[-2000:]}")
            time.sleep(0.2)

    def submit(self, job: dict[str, Any]) -> None:
        """Submits a TrainingJob."""
        self._ask(self._server + _JOBS, json.dumps(job).encode(), self._trust)

    def jobs(self) -> list[dict[str, Any]]:
        """Returns all jobs as the web page shows them."""
        found: list[dict[str, Any]] = self._ask(self._page + "/api/v1/overview")["jobs"]
        return found

    def foreseen(self) -> list[dict[str, Any]]:
        """Returns jobs by a replay of the future: ``start`` and ``end`` are ISO 8601 texts, or None."""
        # A question has to suppose something: that the policy is what it is.
        try:
            answer = self._ask(self._page + "/api/v1/whatif", json.dumps({"policy": self._policy}).encode())
        except urllib.error.HTTPError as e:
            if e.code == _UNAVAILABLE:
                return []  # It took too long.
            raise
        found: list[dict[str, Any]] = answer["jobs"]
        return found

    def remove(self, name: str) -> None:
        """Removes a job."""
        self._ask(f"{self._server}{_JOBS}/{name}", None, self._trust, "DELETE")

    def record(self, file: Path) -> None:
        """Writes the recording of all jobs so far."""
        call = [KASTOR, "record", "-o", str(file), "--names"]
        subprocess.run(call, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def log(self, job: str) -> str:
        """Returns what the replicas of a job have logged."""
        files = sorted((self.home / "logs/default").glob(f"{job}-*.log"))
        return "".join(file.read_text(errors="replace") for file in files)

    def close(self) -> None:
        """Ends it; its folder stays."""
        self._up.terminate()
        self._up.wait()

    def _ask(
        self, url: str, body: bytes | None = None, trust: ssl.SSLContext | None = None, method: str | None = None
    ) -> Any:
        headers = {"Content-Type": "application/json"}
        if trust is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(url, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS, context=trust) as answer:
            return json.load(answer)


def environment(home: Path) -> dict[str, str]:
    """Variables of commands on a cluster: the package of this checkout, and the Python that has PyTorch."""
    python = subprocess.run([KASTOR, "pytorch"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    paths = {"PYTHONPATH": str(ROOT / "python/src"), "PATH": f"{Path(python).parent}:{os.environ['PATH']}"}
    return {**os.environ, **paths, "KASTOR_HOME": str(home)}


def remove(folder: Path) -> None:
    """Removes a folder."""
    shutil.rmtree(folder, ignore_errors=True)
