"""Cluster of real processes under a scripted operator."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from local_kastor import LocalKastor, built
from pods import HERE, ForkServers, Process, interpreter, python_path
from scripted_operator import JOB, NAMESPACE, ScriptedOperator
from step_records import lines_of


class Cluster:
    """Pods of one job, as processes that a kubelet would run: their end is told to the operator."""

    def __init__(self, folder: Path, fork_servers: ForkServers) -> None:
        self.folder, self._fork_servers = folder, fork_servers
        self.operator = ScriptedOperator(folder)
        self.spec: dict[str, Any] = {
            "elastic": {"minReplicas": 1, "maxReplicas": 4},
            "goodput": {"batchSize": {"initial": 32, "max": 256, "perDevice": {"min": 1, "max": 256}}},
            "checkpoint": {"intervalSeconds": 1, "keepLast": 2},
        }
        self.variables: dict[str, str] = {}
        self.pods: dict[str, Process] = {}
        self.ended: dict[str, int] = {}
        self._watchers: list[threading.Thread] = []
        (folder / "ring").write_bytes(b"0123456789abcdef" * 2)
        # Not in the folder: a socket of the workers of a DataLoader has a path of 107 characters at most.
        self._temporary = tempfile.TemporaryDirectory(prefix="kastor-")

    def environment(self, pod: str) -> dict[str, str]:
        """Variables of a pod, as the operator sets them."""
        token = self.folder / f"{pod}.token"
        token.write_text(f"token of {pod}\n")
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": python_path(),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONWARNINGS": "ignore",
            "HF_HUB_OFFLINE": "1",
            "TMPDIR": self._temporary.name,
            "HURRY": str(self.folder / "hurry"),
            "RECORD": str(self.folder / f"{pod}.jsonl"),
            "KASTOR_NAMESPACE": NAMESPACE,
            "KASTOR_JOB": JOB,
            "KASTOR_JOB_UID": "uid-1",
            "KASTOR_POD": pod,
            "KASTOR_NODE": f"node-{pod}",
            "KASTOR_POD_IP": "127.0.0.1",
            "KASTOR_OPERATOR_URL": self.operator.url,
            "KASTOR_TOKEN_FILE": str(token),
            "KASTOR_CA_FILE": str(self.operator.ca),
            "KASTOR_RING_SECRET_FILE": str(self.folder / "ring"),
            "KASTOR_RING_ENCRYPTION": "none",
            "KASTOR_CHECKPOINT_DIR": str(self.folder / "checkpoints"),
            "KASTOR_JOB_SPEC": json.dumps(self.spec),
            "KASTOR_TERMINATION_LOG": str(self.folder / f"{pod}.outcome"),
            "KASTOR_TERMINATION_GRACE_SECONDS": "10",
            "KASTOR_THREADS": "1",
            "KASTOR_PROTOCOL": "2",
            "KASTOR_LOCAL_SLOTS": "1",
            **self.variables,
        }

    def start(
        self,
        *pods: str,
        script: str = "plain.py",
        fault: dict[str, Any] | None = None,
        fork: bool = True,
        **options: Any,
    ) -> None:
        """Starts pods, with an interpreter of their own where they are not forked."""
        run = self._fork_servers.of(script).start if fork else interpreter
        for pod in pods:
            environment = {**self.environment(pod), "OPTIONS": json.dumps(options), "FAULT": json.dumps(fault)}
            process = run(HERE / "scripts" / script, environment, self.folder / f"{pod}.log")
            self.pods[pod] = process
            watcher = threading.Thread(target=self._watch, args=(pod, process), daemon=True)
            watcher.start()
            self._watchers.append(watcher)

    def _watch(self, pod: str, process: Process) -> None:
        status = process.wait()
        self.ended[pod] = status
        self.operator.died(pod)

    def ready(self, *pods: str) -> None:
        """Waits until pods are ready to be members."""

        def ready() -> bool:
            gone = [pod for pod in pods if pod in self.ended]
            assert not gone, f"{gone} ended"
            return all(self.operator.states.get(pod, {}).get("phase", "STARTING") != "STARTING" for pod in pods)

        self.wait(f"{pods} are ready", ready)

    def want(self, pods: list[str], atomic: int, accumulation: int = 0) -> None:
        """Wants a generation and waits until it trains."""
        generation = self.operator.generation
        self.operator.want(pods, atomic, accumulation)
        self.wait(f"{pods} train", lambda: self.operator.generation > generation and self.operator.settled())

    def trained(self, pod: str, more: int = 5) -> None:
        """Waits until a pod has told of more steps."""
        steps = self.lines(pod)
        self.wait(f"{pod} trains on", lambda: len(self.lines(pod)) >= len(steps) + more or pod in self.ended)
        assert pod not in self.ended, self.logs()

    def wait(self, what: str, holds: Any, seconds: float = 600) -> None:
        """Waits until something holds; shows the logs otherwise."""
        try:
            self.operator.wait(what, holds, seconds)
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.logs()}") from None

    def completed(self, seconds: float = 600) -> dict[str, Any]:
        """Lets the scripts take their steps without pauses; outcome of the job once all processes have ended."""
        (self.folder / "hurry").touch()
        self.wait("the job ends", lambda: self.operator.outcome, seconds)
        self.operator.ended = True
        self.wait("all processes end", lambda: len(self.ended) == len(self.pods))
        outcome = self.operator.outcome
        assert outcome is not None
        return outcome

    def ends(self, pod: str, seconds: float = 600) -> int:
        """Exit status of a pod."""
        self.wait(f"{pod} ends", lambda: pod in self.ended, seconds)
        return self.ended[pod]

    def outcome(self, pod: str) -> dict[str, Any]:
        """Termination message of a pod."""
        found: dict[str, Any] = json.loads((self.folder / f"{pod}.outcome").read_text())
        return found

    def lines(self, pod: str) -> list[dict[str, Any]]:
        """Steps that a pod wrote down."""
        return lines_of(self.folder / f"{pod}.jsonl")

    def log(self, pod: str) -> str:
        """Output of a pod."""
        return (self.folder / f"{pod}.log").read_text()

    def logs(self) -> str:
        """End of the output of all pods."""
        return "\n".join(f"--- {pod}\n{self.log(pod)[-3000:]}" for pod in self.pods)

    def close(self) -> None:
        """Ends all processes that were started here, by their id."""
        for process in self.pods.values():
            process.kill()
        for watcher in self._watchers:
            watcher.join(10)
        self.operator.close()
        self._temporary.cleanup()


@pytest.fixture(scope="session")
def fork_servers() -> Iterator[ForkServers]:
    made = ForkServers()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def cluster(tmp_path: Path, fork_servers: ForkServers) -> Iterator[Cluster]:
    made = Cluster(tmp_path, fork_servers)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="session")
def built_kastor() -> None:
    """Kastor, built where sources are newer."""
    built()


@pytest.fixture(scope="session")
def cluster_of_all(built_kastor: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalKastor]:
    """Cluster of this machine, whose start takes as long as a test."""
    made = LocalKastor(tmp_path_factory.mktemp("kastor"))
    try:
        yield made
    finally:
        made.close()
    assert made.left() == [], "processes outlived the cluster"


@pytest.fixture
def kastor(cluster_of_all: LocalKastor) -> Iterator[LocalKastor]:
    """Cluster of this machine without jobs."""
    try:
        yield cluster_of_all
    finally:
        cluster_of_all.clear()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tells who reads the report which tests may not be run a second time."""
    for item in items:
        if item.get_closest_marker("never_retried"):
            item.user_properties.append(("never_retried", "true"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds options for tests that are longer than others."""
    parser.addoption(
        "--whole-examples",
        type=int,
        default=0,
        metavar="SEEDS",
        help="train the examples at their full length, with so many seeds; figures go to target/examples.jsonl",
    )
    parser.addoption("--runs", type=int, default=4, metavar="N", help="kill processes in so many trainings; 20 is all")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Gives tests their seeds."""
    if "kill_seed" in metafunc.fixturenames:
        # The last of four kills replicas and the operator; the others, one kind of process each.
        seeds = range(metafunc.config.getoption("--runs"))
        marks = [() if seed == 3 else (pytest.mark.nightly,) for seed in seeds]
        metafunc.parametrize("kill_seed", [pytest.param(s, marks=m) for s, m in zip(seeds, marks, strict=True)])
    if "example_seed" in metafunc.fixturenames:
        metafunc.parametrize("example_seed", range(max(1, metafunc.config.getoption("--whole-examples"))))
