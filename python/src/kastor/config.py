"""Configuration that the operator gives a replica in its environment."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from kastor.errors import ConfigError
from kastor.noise import SCALING_RULES
from kastor.pace import Pace

T = TypeVar("T")

NEWEST_PROTOCOL = 2
"""Newest version of the agent API that this client speaks."""

LEAST_SECRET_BYTES = 32


@dataclass(frozen=True)
class Work:
    """Declared work of a job; exactly one of the three is set, each at the initial batch."""

    steps: int | None = None
    examples: int | None = None
    epochs: float | None = None

    def total_steps(self, initial_batch: int, training_examples: int) -> float:
        """Scale-invariant steps that the work takes."""
        if self.steps is not None:
            return float(self.steps)
        if self.examples is not None:
            return self.examples / initial_batch
        return (self.epochs or 0) * training_examples / initial_batch


@dataclass(frozen=True)
class WarmStart:
    """Another job whose model a job begins with, at a step or, where it is None, as it saved it last."""

    job: str
    step: int | None = None


@dataclass(frozen=True)
class JobSpec:
    """Part of a TrainingJob's spec that a replica needs; batches are in examples.

    ``scaling`` and ``work`` are None where the spec leaves them to the script, ``warm_start`` where the job
    begins with the model as the script made it. ``accumulates`` is whether a step may have several passes.
    """

    initial_batch: int
    scaling: str | None = None
    work: Work | None = None
    min_replicas: int = 1
    least_atomic_batch: int = 1
    most_atomic_batch: int = 2**31 - 1
    checkpoint_seconds: float = 10.0
    keep_last: int = 3
    warm_start: WarmStart | None = None
    accumulates: bool = True

    @property
    def first_atomic_batch(self) -> int:
        """Likeliest batch of a replica's first pass."""
        share = -(-self.initial_batch // self.min_replicas)
        return min(max(share, self.least_atomic_batch), self.most_atomic_batch)

    @staticmethod
    def parse(text: str) -> JobSpec:
        """Spec in JSON.

        Raises:
            ValueError: naming every field that is missing or wrong.
        """
        try:
            spec = json.loads(text)
        except ValueError as e:
            raise ValueError(f"it is not JSON: {e}") from e
        fields = _Fields(spec)
        work = None
        for kind in ("steps", "examples", "epochs"):
            if fields.at(f"goodput.work.{kind}") is not None:
                work = Work(**{kind: fields.whole(f"goodput.work.{kind}")})
        scaling = fields.at("goodput.learningRate.scaling")
        accumulates = fields.at("goodput.batchSize.gradientAccumulation")
        warm_start = None
        if fields.at("checkpoint.warmStart") is not None:
            job, step = fields.at("checkpoint.warmStart.job"), fields.at("checkpoint.warmStart.step")
            fields.check("checkpoint.warmStart.job", isinstance(job, str) and job != "")
            fields.check("checkpoint.warmStart.step", step is None or (isinstance(step, int) and step >= 0))
            warm_start = WarmStart(str(job), step)
        fields.check(
            f"goodput.learningRate.scaling (one of {', '.join(SCALING_RULES)})",
            scaling is None or scaling in SCALING_RULES,
        )
        read = JobSpec(
            fields.whole("goodput.batchSize.initial"),
            scaling,
            work,
            fields.whole("elastic.minReplicas", 1),
            fields.whole("goodput.batchSize.perDevice.min", 1),
            fields.whole("goodput.batchSize.perDevice.max", 2**31 - 1),
            float(fields.whole("checkpoint.intervalSeconds", 10)),
            fields.whole("checkpoint.keepLast", 3),
            warm_start,
            accumulates is not False,
        )
        fields.check("goodput.batchSize.gradientAccumulation", accumulates in (None, True, False))
        fields.check("goodput.batchSize.perDevice", read.least_atomic_batch <= read.most_atomic_batch)
        if fields.wrong:
            raise ValueError("missing or wrong: " + ", ".join(fields.wrong))
        return read


@dataclass
class _Fields:
    spec: Any
    wrong: list[str] = field(default_factory=list)

    def at(self, path: str) -> Any:
        node = self.spec
        for name in path.split("."):
            node = node.get(name) if isinstance(node, dict) else None
        return node

    def whole(self, path: str, default: int | None = None) -> int:
        value = self.at(path)
        value = default if value is None else value
        right = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        self.check(path, right)
        return int(value) if right and value is not None else 1

    def check(self, path: str, right: bool) -> None:
        if not right:
            self.wrong.append(path)


@dataclass(frozen=True)
class Config:
    """Configuration of one replica, from the variables ``KASTOR_*`` of its pod.

    ``threads`` is how many compute on a CPU; 0 where nobody says so. ``warm_start_dir`` is the folder of
    the other job's checkpoints; where it is None, ``warm_start_problem`` is the reason. ``check`` is set
    by ``kastor.check`` alone: states are compared after each step, and a difference ends the job. ``pace`` is that of
    an accelerator, which passes keep; None where they take what they take.
    """

    namespace: str
    job: str
    job_uid: str
    pod: str
    pod_ip: str
    operator_url: str
    token_file: Path
    ca_file: Path
    ring_secret_file: Path
    checkpoint_dir: Path
    termination_log: Path
    spec: JobSpec
    protocol: int = 1
    local_slots: int = 1
    threads: int = 0
    grace_seconds: float = 10.0
    exit_with_parent: bool = False
    warm_start_dir: Path | None = None
    warm_start_uid: str = ""
    warm_start_problem: str = "the operator says nothing of it: it is older than this client"
    check: bool = False
    pace: Pace | None = None

    @property
    def job_name(self) -> str:
        """Name of the job as ``namespace/name``."""
        return f"{self.namespace}/{self.job}"

    def ring_secret(self) -> bytes:
        """Secret that the replicas of the job share.

        Raises:
            ConfigError: if it cannot be read or is too short; the secret is in no message.
        """
        try:
            secret = self.ring_secret_file.read_bytes()
        except OSError as e:
            raise ConfigError(f"KASTOR_RING_SECRET_FILE cannot be read: {e}") from e
        if len(secret) < LEAST_SECRET_BYTES:
            raise ConfigError(
                f"KASTOR_RING_SECRET_FILE holds {len(secret)} bytes; at least {LEAST_SECRET_BYTES} are needed."
            )
        return secret

    @staticmethod
    def read(environment: Mapping[str, str]) -> Config | None:
        """Configuration in an environment; None where no operator is named: the script runs alone.

        Raises:
            ConfigError: naming every variable that is missing or wrong.
        """
        if not environment.get("KASTOR_OPERATOR_URL", "").strip():
            return None
        reader = _Reader(environment)
        config = Config(
            reader.get("KASTOR_NAMESPACE", str, ""),
            reader.get("KASTOR_JOB", str, ""),
            reader.get("KASTOR_JOB_UID", str, ""),
            reader.get("KASTOR_POD", str, ""),
            reader.get("KASTOR_POD_IP", str, ""),
            reader.get("KASTOR_OPERATOR_URL", _https, ""),
            reader.get("KASTOR_TOKEN_FILE", Path, Path()),
            reader.get("KASTOR_CA_FILE", Path, Path()),
            reader.get("KASTOR_RING_SECRET_FILE", Path, Path()),
            reader.get("KASTOR_CHECKPOINT_DIR", Path, Path()),
            reader.get("KASTOR_TERMINATION_LOG", Path, Path()),
            reader.get("KASTOR_JOB_SPEC", JobSpec.parse, JobSpec(1)),
            min(reader.get("KASTOR_PROTOCOL", _whole, 1, optional=True), NEWEST_PROTOCOL),
            reader.get("KASTOR_LOCAL_SLOTS", _whole, 1, optional=True),
            reader.get("KASTOR_THREADS", _whole, 0, optional=True),
            reader.get("KASTOR_TERMINATION_GRACE_SECONDS", _whole, 10, optional=True),
            reader.get("KASTOR_EXIT_WITH_PARENT", _truth, False, optional=True),
            reader.get("KASTOR_WARM_START_DIR", Path, None, optional=True),
            reader.get("KASTOR_WARM_START_UID", str, "", optional=True),
            reader.get("KASTOR_WARM_START_PROBLEM", str, Config.warm_start_problem, optional=True),
            reader.get("KASTOR_CHECK", _truth, False, optional=True),
            reader.get("KASTOR_PACE", Pace.parse, None, optional=True),
        )
        if reader.problems:
            raise ConfigError(
                "This replica cannot start: "
                + "; ".join(reader.problems)
                + ". The operator sets these variables in the pods of elastic jobs;"
                " to run alone, unset KASTOR_OPERATOR_URL."
            )
        return config


@dataclass
class _Reader:
    """Reader that collects problems instead of stopping at the first."""

    environment: Mapping[str, str]
    problems: list[str] = field(default_factory=list)

    def get(self, name: str, parse: Callable[[str], T], default: T, optional: bool = False) -> T:
        text = self.environment.get(name, "").strip()
        if not text:
            if not optional:
                self.problems.append(f"{name} is not set")
            return default
        try:
            return parse(text)
        except ValueError as e:
            self.problems.append(f"{name} is unusable: {e}")
            return default


def _https(text: str) -> str:
    url = urllib.parse.urlsplit(text)
    if url.scheme != "https" or not url.hostname:
        raise ValueError("it must be https://host:port")
    return text


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("it must be a whole number above 0")
    return int(text)


def _truth(text: str) -> bool:
    return text.lower() == "true"
