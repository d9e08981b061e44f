"""Telemetry of rank 0: about one report a second while there is something to tell."""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kastor.config import Config
from kastor.operator import OFFLINE, OperatorClient, OperatorError
from kastor.protocol import (
    MAX_ENTRIES,
    MAX_TEXT,
    BatchPlan,
    CheckpointInfo,
    GradientStats,
    Outcome,
    Progress,
    Slowest,
    StepProfile,
    Switch,
    TelemetryReport,
    shortened,
)
from kastor.scalars import MOST_SCALARS, ScalarMeans

log = logging.getLogger("kastor")

_INTERVAL_SECONDS = 1.0
_ANSWER_SECONDS = 10.0
_RETRY_SECONDS = 0.5
_SCALARS_PROTOCOL = 2


@dataclass(frozen=True)
class TrainingStatus:
    """Status of training as rank 0 sees it."""

    generation: int
    nodes: int
    gpu_type: str
    replicas: int
    batch: BatchPlan
    progress: Progress
    gradient: GradientStats | None = None
    learning_rate: float | None = None


@dataclass(frozen=True)
class StepSample:
    """Applied step; ``typical`` is false around changes of members, whose times say nothing.

    ``compute_seconds`` is the mean pass of the slowest replica and the update, ``sync_seconds`` the
    rest of the step, ``loss`` the mean over the global batch, NaN where the script tells none.
    """

    status: TrainingStatus
    typical: bool
    compute_seconds: float
    sync_seconds: float
    loss: float


_Shape = tuple[int, int, int, str]


@dataclass
class _Sums:
    steps: int = 0
    compute: float = 0.0
    sync: float = 0.0


class ColdReplicas:
    """Time in which replicas that have just joined others are slow, while they and others that start take processors.

    What a step takes meanwhile says nothing of what it will take. A replica alone is never cold: no other waits for
    it, and the first that is known of a job is worth more than its exactness.
    """

    SECONDS = 10.0
    """For how long."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._trained: frozenset[str] = frozenset()
        self._warm_at = -math.inf

    def joined(self, pods: Iterable[str]) -> None:
        """The members of a generation train from now on."""
        members = frozenset(pods)
        if len(members) == 1:
            self._warm_at = -math.inf
        elif not members <= self._trained:
            self._warm_at = self._now() + self.SECONDS
        self._trained = members

    @property
    def warm(self) -> bool:
        """True once the members are warm."""
        return self._now() >= self._warm_at


class StepProfiler:
    """Means of step times by placement, batch and GPU type; bounded: the oldest make room."""

    def __init__(self) -> None:
        self._sums: dict[_Shape, _Sums] = {}

    def add(self, sample: StepSample) -> None:
        """Counts one step."""
        s = sample.status
        shape = (s.nodes, s.replicas, s.batch.atomic_batch_size, s.gpu_type)
        self._put(shape, _Sums(1, sample.compute_seconds, sample.sync_seconds))

    def add_all(self, other: StepProfiler) -> None:
        """Counts all that another one has."""
        for shape, sums in other._sums.items():
            self._put(shape, sums)

    def _put(self, shape: _Shape, more: _Sums) -> None:
        sums = self._sums.setdefault(shape, _Sums())
        sums.steps += more.steps
        sums.compute += more.compute
        sums.sync += more.sync
        if len(self._sums) > MAX_ENTRIES:
            del self._sums[next(iter(self._sums))]

    def profiles(self) -> list[StepProfile]:
        """Means in the order in which the shapes first came."""
        found = []
        for (nodes, replicas, atomic, gpu), s in self._sums.items():
            sync = s.sync / s.steps
            step = s.compute / s.steps + sync
            found.append(StepProfile(nodes, replicas, atomic, s.steps, step, sync, gpu))
        return found


@dataclass
class _Unsent:
    """Measurements since the last report that arrived."""

    profiler: StepProfiler = field(default_factory=StepProfiler)
    switches: deque[Switch] = field(default_factory=lambda: deque(maxlen=MAX_ENTRIES))
    loss_sum: float = 0.0
    losses: int = 0
    scalars: ScalarMeans = field(default_factory=ScalarMeans)

    def add(self, sample: StepSample) -> None:
        if sample.typical:
            self.profiler.add(sample)
        if math.isfinite(sample.loss):
            self.loss_sum += sample.loss
            self.losses += 1

    def add_all(self, later: _Unsent) -> None:
        self.profiler.add_all(later.profiler)
        self.switches.extend(later.switches)
        self.loss_sum += later.loss_sum
        self.losses += later.losses
        self.scalars.add_all(later.scalars)


class PassTimes:
    """Times of each member's passes, summed over steps."""

    def __init__(self) -> None:
        self._pods: tuple[str, ...] = ()
        self._seconds: list[float] = []
        self._steps = 0

    def add(self, pods: Sequence[str], seconds: Sequence[float]) -> None:
        """Counts one step; other members than before begin anew."""
        if tuple(pods) != self._pods:
            self._pods, self._seconds, self._steps = tuple(pods), [0.0] * len(pods), 0
        self._seconds = [a + b for a, b in zip(self._seconds, seconds, strict=True)]
        self._steps += 1

    def take(self) -> Slowest | None:
        """Slowest member, None without two members and a step; forgets what was counted."""
        if not self._steps or len(self._pods) < 2:
            return None
        means = [s / self._steps for s in self._seconds]
        slowest = means.index(max(means))
        others = sorted(means[:slowest] + means[slowest + 1 :])
        self._seconds, self._steps = [0.0] * len(self._pods), 0
        return Slowest(self._pods[slowest], means[slowest], others[(len(others) - 1) // 2])


class TelemetryClient:
    """Client that sends reports from a thread of its own.

    What could not be sent is merged into the next report, within bounds, so an operator that comes
    back misses no switch. To one that took over from another, which its ``Kastor-Term`` tells, all
    step times that this replica has measured are told once more. Only :meth:`finish` waits for the
    network. Thread-safe.
    """

    def __init__(self, operator: OperatorClient, config: Config) -> None:
        self._operator, self._config = operator, config
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._lived = StepProfiler()
        self._passes = PassTimes()
        self._unsent = _Unsent()
        self._latest: TrainingStatus | None = None
        self._checkpoint: CheckpointInfo | None = None
        self._unsaved: str | None = None
        self._news = self._away = self._retell = False
        self._sequence = 0
        self._too_many_names = False
        self._term = ""
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="kastor-telemetry", daemon=True)

    def start(self) -> None:
        """Starts to report."""
        self._thread.start()

    def stepped(self, sample: StepSample) -> None:
        """Notes an applied step."""
        with self._lock:
            self._unsent.add(sample)
            if sample.typical:
                self._lived.add(sample)
            self._latest, self._news = sample.status, True

    def logged(self, values: Mapping[str, float]) -> None:
        """Notes scalars of the script, the loss aside; an operator that does not know them is told none."""
        if self._config.protocol < _SCALARS_PROTOCOL:
            return
        with self._lock:
            left_out = self._unsent.scalars.add(values)
            self._news = self._latest is not None
        if left_out and not self._too_many_names:
            self._too_many_names = True
            log.warning("more than %d scalars are logged: %s and others are left out", MOST_SCALARS, left_out[0])

    def compared(self, pods: Sequence[str], pass_seconds: Sequence[float]) -> None:
        """Notes how long each member computed in a step."""
        with self._lock:
            self._passes.add(pods, pass_seconds)

    def reached(self, status: TrainingStatus) -> None:
        """Notes the status at the start of a generation."""
        with self._lock:
            self._latest, self._news = status, True

    def switched(self, change: Switch) -> None:
        """Notes a change of members; sent with the status that follows."""
        with self._lock:
            self._unsent.switches.append(change)

    def saved(self, info: CheckpointInfo) -> None:
        """Notes a durable checkpoint."""
        with self._lock:
            self._checkpoint, self._unsaved = info, None
            self._news = self._latest is not None

    def unsaved(self, why: str) -> None:
        """Notes why a checkpoint could not be saved; an operator that does not know of it is told nothing."""
        if self._config.protocol < _SCALARS_PROTOCOL:
            return
        with self._lock:
            self._unsaved = shortened(why, MAX_TEXT)
            self._news = self._latest is not None

    def finish(self, outcome: Outcome, seconds: float = 60.0) -> bool:
        """Sends the last report until it arrives or time is up; whether it arrived."""
        end = time.monotonic() + seconds
        while not self._send(outcome):
            if time.monotonic() > end:
                log.warning("the last report did not reach the operator within %.0f s", seconds)
                return False
            time.sleep(_RETRY_SECONDS)
        return True

    def close(self) -> None:
        """Sends once more what is unsent and ends."""
        if not self._closed.is_set():
            self._closed.set()
            self._thread.join(_ANSWER_SECONDS)
            self._send(None)

    def _loop(self) -> None:
        while not self._closed.wait(_INTERVAL_SECONDS):
            self._send(None)

    def _send(self, outcome: Outcome | None) -> bool:
        """Sends what is unsent; True when nothing is left to send."""
        with self._sending:
            with self._lock:
                if self._latest is None or (outcome is None and not self._news):
                    return True
                taken, self._unsent, self._news = self._unsent, _Unsent(), False
                report = self._report(self._latest, taken, outcome)
            body = json.dumps(report.to_json(), allow_nan=False).encode()
            try:
                answer = self._operator.post("telemetry", body, _ANSWER_SECONDS)
            except OperatorError as e:
                if not e.refused:
                    self._keep(taken, e)
                    return False
                log.error("a report was refused: %s", e)
                return True
            except OFFLINE as e:
                self._keep(taken, e)
                return False
            self._sequence += 1
            if self._away:
                log.info("reports arrive again")
            self._away = False
            successor = self._term not in ("", answer.term)
            self._term = answer.term
            with self._lock:
                self._retell = successor
                self._news |= successor
            return True

    def _keep(self, taken: _Unsent, why: Exception) -> None:
        if not self._away:
            log.warning("a report did not reach the operator: %s", why)
        self._away = True
        with self._lock:
            taken.add_all(self._unsent)
            self._unsent, self._news = taken, True

    def _report(self, status: TrainingStatus, taken: _Unsent, outcome: Outcome | None) -> TelemetryReport:
        profiler = self._lived if self._retell else taken.profiler
        return TelemetryReport(
            self._config.namespace,
            self._config.job,
            self._config.pod,
            status.generation,
            self._sequence,
            status.replicas,
            status.batch,
            status.progress,
            profiler.profiles(),
            list(taken.switches),
            status.gradient,
            taken.loss_sum / taken.losses if taken.losses else None,
            status.learning_rate,
            self._checkpoint,
            outcome,
            self._passes.take(),
            taken.scalars.means(),
            self._unsaved,
        )
