"""Records of the agent API: membership comes down, telemetry goes up.

The JSON names and bounds are those that the operator demands: it refuses an unknown, missing or
null field. What the operator sends is read leniently: fields that are not known are ignored, and an
action that is not known counts as ``WAIT``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

Json = dict[str, Any]

MAX_ENTRIES = 100
"""Most profiles, and most switches, in one report."""

MAX_BYTES = 64 * 1024
"""Most bytes of a report."""

MAX_MESSAGE = 2048
"""Most characters of an outcome's message, counted as UTF-16 does."""

MAX_METRIC_NAME = 64

MAX_TEXT = 1000
"""Most characters of any other text in a report."""

OUT_OF_MEMORY_PROTOCOL = 2
"""First version of the protocol whose outcomes tell a batch that did not fit."""

_MOST_NORM = 1.2e77


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name} must be at least {least} but is {value}")


class ProtocolError(ValueError):
    """Error of a message that does not follow the agent API."""


class Action(Enum):
    """Action that a generation asks of the replicas."""

    WAIT = "WAIT"
    RUN = "RUN"
    STOP = "STOP"
    LEAVE = "LEAVE"


class Phase(Enum):
    """Phase of a replica."""

    STARTING = "STARTING"
    READY = "READY"
    TRAINING = "TRAINING"
    BROKEN = "BROKEN"


class Doing(Enum):
    """Activity of a replica: the operator is patient with all but ``TRAIN``."""

    TRAIN = "TRAIN"
    EVALUATE = "EVALUATE"
    SAVE = "SAVE"
    LOAD = "LOAD"
    COMPILE = "COMPILE"


class OutcomeKind(Enum):
    """Way in which a replica ends by itself."""

    COMPLETED = "COMPLETED"
    STOPPED = "STOPPED"
    LEFT = "LEFT"
    FAILED_PERMANENTLY = "FAILED_PERMANENTLY"
    FAILED = "FAILED"


class Cause(Enum):
    """Cause of a change of members."""

    START = "START"
    RESCALE = "RESCALE"
    FAILURE = "FAILURE"


@dataclass(frozen=True)
class BatchPlan:
    """Batch of each replica: ``atomic_batch_size`` examples per pass, ``accumulation_steps`` extra passes."""

    atomic_batch_size: int
    accumulation_steps: int = 0

    def __post_init__(self) -> None:
        _at_least("atomicBatchSize", self.atomic_batch_size, 1)
        _at_least("accumulationSteps", self.accumulation_steps, 0)

    @property
    def passes(self) -> int:
        """Forward-backward passes of one step."""
        return self.accumulation_steps + 1

    def global_batch_size(self, replicas: int) -> int:
        """Examples of one optimizer step over all replicas."""
        return replicas * self.atomic_batch_size * self.passes

    def to_json(self) -> Json:
        """JSON as the operator demands it."""
        return {
            "atomicBatchSize": self.atomic_batch_size,
            "accumulationSteps": self.accumulation_steps,
        }


@dataclass(frozen=True)
class Member:
    """Member of a generation: its pod, rank, ``host:port``, node and the GPU type of that node."""

    pod: str
    rank: int
    address: str
    node: str
    gpu_type: str = ""


@dataclass(frozen=True)
class Membership:
    """Generation: who trains together and with which batch; members are in rank order."""

    generation: int
    action: Action
    members: tuple[Member, ...] = ()
    batch_plan: BatchPlan = BatchPlan(1)

    @staticmethod
    def from_json(data: Any) -> Membership:
        """Membership in an answer of the operator.

        Raises:
            ProtocolError: if it cannot be followed.
        """
        try:
            plan = data["batchPlan"]
            name = data["action"]
            read = Membership(
                int(data["generation"]),
                Action(name) if name in Action.__members__ else Action.WAIT,
                tuple(
                    Member(
                        str(m["pod"]),
                        int(m["rank"]),
                        str(m["address"]),
                        str(m["node"]),
                        str(m.get("gpuType") or ""),
                    )
                    for m in data["members"]
                ),
                BatchPlan(int(plan["atomicBatchSize"]), int(plan["accumulationSteps"])),
            )
        except (KeyError, TypeError, ValueError) as e:
            raise ProtocolError(f"the operator sent a membership that cannot be read: {e!r}") from e
        in_order = all(member.rank == rank for rank, member in enumerate(read.members))
        if read.action is Action.RUN and not (read.members and in_order):
            raise ProtocolError(f"the operator sent a membership that cannot be run: {read}")
        return read

    def rank(self, pod: str) -> int | None:
        """Rank of a pod; None where it is not a member."""
        return next((m.rank for m in self.members if m.pod == pod), None)

    @property
    def nodes(self) -> int:
        """Number of distinct nodes of the members."""
        return len({m.node for m in self.members})

    @property
    def gpu_type(self) -> str:
        """GPU type of the members; names of different ones joined by ``+``, empty without GPUs."""
        return "+".join(sorted({m.gpu_type for m in self.members} - {""}))


@dataclass(frozen=True)
class GradientStats:
    """Noise of the gradient, normalised to the initial batch M0 (Pollux, OSDI 2021, section 3.1).

    ``squared_norm`` is that of the true gradient, ``variance`` the trace of the covariance of the
    mean gradient of M0 examples; the gradient noise scale is ``M0 * variance / squared_norm``
    examples.
    """

    squared_norm: float
    variance: float
    initial_batch: int

    def gain(self, global_batch: float) -> float:
        """Gain of a step at ``global_batch`` examples, between 1 and M/M0 (AdaScale, ICML 2020, section 3)."""
        scale = global_batch / self.initial_batch
        denominator = self.variance / scale + self.squared_norm
        return (self.variance + self.squared_norm) / denominator if denominator > 0 else 1.0

    def to_json(self) -> Json | None:
        """JSON of the statistics; None where a norm is one that no float gradient has."""
        if self.squared_norm > _MOST_NORM or self.variance > _MOST_NORM:
            return None
        return {
            "squaredNorm": self.squared_norm,
            "variance": self.variance,
            "initialBatch": self.initial_batch,
        }


@dataclass(frozen=True)
class Progress:
    """Progress of a job: steps, the same in steps of the initial batch, their total (0: unknown), examples, epoch."""

    step: int
    scale_invariant_steps: float
    total_scale_invariant_steps: float
    examples: int
    epoch: int

    def to_json(self) -> Json:
        """JSON as the operator demands it."""
        return {
            "step": self.step,
            "scaleInvariantSteps": self.scale_invariant_steps,
            "totalScaleInvariantSteps": self.total_scale_invariant_steps,
            "examples": self.examples,
            "epoch": self.epoch,
        }


@dataclass(frozen=True)
class StepProfile:
    """Mean time of ``steps`` steps under one placement and atomic batch size, in seconds."""

    nodes: int
    replicas: int
    atomic_batch_size: int
    steps: int
    step_seconds: float
    sync_seconds: float
    gpu_type: str = ""

    def to_json(self) -> Json:
        """JSON as the operator demands it: what is absent has no field."""
        data: Json = {
            "nodes": self.nodes,
            "replicas": self.replicas,
            "atomicBatchSize": self.atomic_batch_size,
            "steps": self.steps,
            "stepSeconds": self.step_seconds,
            "syncSeconds": self.sync_seconds,
        }
        if self.gpu_type:
            data["gpuType"] = self.gpu_type
        return data


@dataclass(frozen=True)
class Switch:
    """Change of members or batch; the pause is from the last step before to the first after it."""

    generation: int
    replicas_before: int
    replicas_after: int
    cause: Cause
    pause_seconds: float

    def to_json(self) -> Json:
        """JSON as the operator demands it."""
        return {
            "generation": self.generation,
            "replicasBefore": self.replicas_before,
            "replicasAfter": self.replicas_after,
            "cause": self.cause.value,
            "pauseSeconds": self.pause_seconds,
        }


@dataclass(frozen=True)
class CheckpointInfo:
    """Newest durable checkpoint: its step, bytes and Unix time in ms."""

    step: int
    bytes: int
    saved_at_epoch_millis: int

    def to_json(self) -> Json:
        """JSON as the operator demands it."""
        return {
            "step": self.step,
            "bytes": self.bytes,
            "savedAtEpochMillis": self.saved_at_epoch_millis,
        }


@dataclass(frozen=True)
class Slowest:
    """Member that computed slowest: its mean seconds of a pass and the median of the others'."""

    pod: str
    pass_seconds: float
    others_seconds: float

    def to_json(self) -> Json:
        """JSON as the operator demands it."""
        return {
            "pod": self.pod,
            "passSeconds": self.pass_seconds,
            "othersSeconds": self.others_seconds,
        }


@dataclass(frozen=True)
class Outcome:
    """Outcome of a replica: sent in its last report and written as its termination message."""

    kind: OutcomeKind
    message: str
    progress: Progress | None = None
    metric_name: str | None = None
    metric: float | None = None
    lost_or_repeated_examples: int = 0
    out_of_memory_at: int | None = None

    def to_json(self, protocol: int = 1) -> Json:
        """JSON as an operator of that protocol demands it: what is absent, or unknown to it, has no field."""
        data: Json = {
            "kind": self.kind.value,
            "lostOrRepeatedExamples": self.lost_or_repeated_examples,
            "message": shortened(self.message, MAX_MESSAGE),
        }
        if self.progress is not None:
            data["progress"] = self.progress.to_json()
        if self.metric_name is not None:
            data["metricName"] = shortened(self.metric_name, MAX_METRIC_NAME)
        if self.metric is not None and math.isfinite(self.metric):
            data["metric"] = self.metric
        if self.out_of_memory_at is not None and protocol >= OUT_OF_MEMORY_PROTOCOL:
            data["outOfMemoryAt"] = self.out_of_memory_at
        return data


@dataclass(frozen=True)
class TelemetryReport:
    """Report of rank 0: what the replicas measured since its last report."""

    namespace: str
    job: str
    pod: str
    generation: int
    sequence: int
    replicas: int
    batch: BatchPlan
    progress: Progress
    profiles: Sequence[StepProfile] = ()
    switches: Sequence[Switch] = ()
    gradient: GradientStats | None = None
    training_loss: float | None = None
    learning_rate: float | None = None
    checkpoint: CheckpointInfo | None = None
    outcome: Outcome | None = None
    slowest: Slowest | None = field(default=None)
    scalars: Mapping[str, float] = field(default_factory=dict)
    unsaved: str | None = None

    def to_json(self) -> Json:
        """JSON as the operator demands it: what is absent has no field."""
        data: Json = {
            "namespace": self.namespace,
            "job": self.job,
            "pod": self.pod,
            "generation": self.generation,
            "sequence": self.sequence,
            "replicas": self.replicas,
            "batch": self.batch.to_json(),
            "profiles": [p.to_json() for p in self.profiles[-MAX_ENTRIES:]],
            "progress": self.progress.to_json(),
            "switches": [s.to_json() for s in self.switches[-MAX_ENTRIES:]],
        }
        optional = {
            "gradient": self.gradient and self.gradient.to_json(),
            "trainingLoss": _finite(self.training_loss),
            "learningRate": _finite(self.learning_rate),
            "checkpoint": self.checkpoint and self.checkpoint.to_json(),
            "outcome": self.outcome and self.outcome.to_json(),
            "slowest": self.slowest and self.slowest.to_json(),
            "scalars": dict(self.scalars) or None,
            "unsaved": self.unsaved,
        }
        data.update({name: value for name, value in optional.items() if value is not None})
        return data


def shortened(text: str, most: int) -> str:
    """Text of at most ``most`` UTF-16 units, which is how the operator counts characters."""
    return text.encode("utf-16-le", "replace")[: 2 * most].decode("utf-16-le", "ignore")


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
