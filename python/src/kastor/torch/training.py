"""Steps of training that replicas take together."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from kastor.audit import AuditDigest
from kastor.config import Work
from kastor.errors import DivergedError, NotFiniteError, UsageError
from kastor.noise import JointNoise, learning_rate_factor
from kastor.pace import Pacer
from kastor.protocol import Doing, Membership
from kastor.sampler import ElasticSampler, Order, Take
from kastor.telemetry import ColdReplicas, StepSample
from kastor.torch.backward import BackwardReducer
from kastor.torch.drift import Comparison, Drift, differences
from kastor.torch.group import BrokenGroupError, Group, Kind, Rows
from kastor.torch.join import DIFFERENT
from kastor.torch.members import Members
from kastor.torch.pod import Pod
from kastor.torch.rates import rule_for
from kastor.torch.reducer import NOT_MEASURED, Reducer, squared_distance
from kastor.torch.state import Counters, Stateful, TrainingState
from kastor.torch.statistics import BatchStatistics
from kastor.torch.trained import FixedGroups, Trained

log = logging.getLogger("kastor")

R = TypeVar("R")


class _TakenAgainError(BrokenGroupError):
    """Error of a step that all members take again, in the group that they are in.

    ``compares`` is set where their states may differ, and are made equal first; ``drifted`` where they do.
    """

    def __init__(self, why: str, compares: bool = False, drifted: bool = False) -> None:
        super().__init__(why)
        self.compares, self.drifted = compares, drifted


@dataclass(frozen=True)
class Exchanged:
    """Exchange of a step; equal on all members.

    ``newer`` is the generation to which all switch after the step, None where not all know the same.
    """

    rows: list[list[float]]
    newer: Membership | None
    settled: bool
    factor: float
    gain: float
    ended_at: float


@dataclass(frozen=True)
class _Sent:
    """Exchange of a step under way, and the newest generation that this replica told the others of."""

    rows: Rows
    statistics: Callable[[], bool]
    known: int
    newer: Membership | None


@dataclass(frozen=True)
class _Gradient:
    """Gradient of a step of one group, to compare the next one with."""

    generation: int
    values: list[torch.Tensor]
    squared_norm: float
    batch: int


class _Step:
    """Step in progress on this replica."""

    def __init__(self, repeats_not_finite: bool = False) -> None:
        self.began = self.pass_began = time.perf_counter()
        self.pass_seconds = 0.0
        self.take: Take | None = None
        self.trained = AuditDigest()
        self.sent: _Sent | None = None
        self.error: BrokenGroupError | None = None
        self.exchanged: Exchanged | None = None
        self.called = self.updated = self.broken = self.not_finite = False
        self.repeats_not_finite = repeats_not_finite


class Training:
    """Training by data-parallel synchronous steps.

    Each replica passes its share of the global batch, the members sum, and only then does every
    replica apply the same update. The exchange before each update carries the newest generation that
    a replica knows; when all know the same, they switch to it right after that step. A group that
    breaks costs the step in progress and nothing else. The script's thread owns it.
    """

    alternates = False
    """Whether there are several optimizers."""

    trained: Trained | FixedGroups
    reducer: Reducer | BackwardReducer
    statistics: BatchStatistics

    def __init__(self, pod: Pod | None, seed: int, device: torch.device, drift: Drift = Drift.REPAIR) -> None:
        self.pod = pod
        self.members = Members(pod, device)
        self.members.on_stuck = self._renew
        self.rehearsing = pod is not None
        self.step = _Step()
        self.declared_epochs: float | None = None
        self.ends_epochs = False
        self.seed = seed
        self._spec = pod.config.spec if pod else None
        self._scalings: list[str] = []
        self._number = 0
        self._initial_batch = 1
        self._losses: list[float] = []
        self._previous: dict[int, _Gradient] = {}
        self._first_step_of = -1
        self._cold = ColdReplicas()
        self._last_save = time.monotonic()
        self._comparison = Comparison(drift)
        pace = pod.config.pace if pod else None
        self._pacer = Pacer(pace) if pace is not None else None
        self.pass_examples = 0
        self.looping = self.left = False

    # --- preparation ---

    def prepare(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, parts: Mapping[str, Stateful]) -> None:
        """Takes the objects whose state is that of the training."""
        self._take([optimizer], parts)
        self.trained = self._trained = Trained(model, optimizer)
        self.reducer = self._sums = Reducer(self.trained.parameters)
        self._trained.settle()
        self.members.on_agreed = self._adopt
        self._sums.on_computed = self._computed
        self._sums.on_pass = self._end_pass
        self.statistics = BatchStatistics(model)

    def _take(self, optimizers: Sequence[torch.optim.Optimizer], parts: Mapping[str, Stateful]) -> None:
        self._optimizers, self._parts = optimizers, parts
        chosen = self._spec.scaling if self._spec else None
        for optimizer in optimizers:
            rule = chosen or rule_for(optimizer)
            if rule is None and self.pod is not None:
                log.warning(
                    "no rule is known by which the rate of %s follows the batch: it stays as it is. Choose one by"
                    " goodput.learningRate.scaling",
                    type(optimizer).__name__,
                )
            self._scalings.append(rule or "None")

    def read_from(self, order: Order, initial_batch: int) -> None:
        """Takes the order of the data set's examples and the initial batch M0."""
        self.members.sampler = ElasticSampler(order)
        self._initial_batch = initial_batch
        if self.members.state is None:
            self.members.state = TrainingState(
                self._parts, JointNoise(initial_batch, len(self._optimizers)), trained=self.trained
            )
        declared = [work for work in (self._spec.work if self._spec else None,) if work is not None]
        if self.declared_epochs is not None:
            declared.append(Work(epochs=self.declared_epochs))
        declared = declared or [Work(epochs=1)]
        self.members.total_steps = min(work.total_steps(initial_batch, order.examples) for work in declared)

    @property
    def counters(self) -> Counters:
        """Counters of the state; those of a training that has not begun where there is none."""
        return self.members.state.counters if self.members.state is not None else Counters()

    @property
    def done(self) -> bool:
        """Whether the declared work is done."""
        return self._is_done(self.members.total_steps)

    def epoch_done(self) -> bool:
        """Whether the epoch in which the members are is over; without epochs, whether all is."""
        sampler = self.members.sampler
        if self.done or not self.ends_epochs or sampler is None:
            return self.done
        return self._is_done(self._epoch_end(sampler))

    def _is_done(self, end: float) -> bool:
        # What was skipped is a difference of such numbers, and rounded.
        return self.counters.done >= end - 1e-9

    def _epoch_end(self, sampler: ElasticSampler) -> float:
        return (self.counters.epoch + 1) * sampler.examples / self._initial_batch

    def end_loop(self) -> None:
        """Ends a loop over batches."""
        self.looping = self.left = False
        self.pass_examples = 0
        if self.pod is not None:
            # What follows a loop over batches is most often an evaluation.
            self.pod.membership.doing = Doing.EVALUATE
            self.pod.membership.ask_now()

    def leave_loop(self) -> None:
        """Ends a loop that the script left by ``break``: what is left of the epoch counts as done.

        Raises:
            SystemExit: 0, where the operator wants this replica to stop or to leave.
        """
        self.end_turn()
        sampler = self.members.sampler
        assert sampler is not None
        if self.ends_epochs and not self.epoch_done():
            # Before others join, who then find the epoch done.
            end = min(self._epoch_end(sampler), self.members.total_steps)
            self.counters.skipped = end - self.counters.scale_invariant_steps
        self.members.require_group()
        self.end_loop()

    def epoch_progress(self) -> float:
        """Done share of the epoch in which the members are, in [0, 1]; 1 exactly where it is over."""
        sampler = self.members.sampler
        if sampler is None or self.epoch_done():
            return float(self.done or sampler is not None)
        epochs = self.counters.done * self._initial_batch / sampler.examples
        within = epochs - self.counters.epoch if self.ends_epochs else epochs % 1
        return min(math.nextafter(1, 0), max(0.0, within))

    # --- a step ---

    def begin_step(self) -> None:
        """Begins a step in the group that there is."""
        if self.pod is not None and self.pod.membership.doing is not Doing.TRAIN:
            self.pod.membership.doing = Doing.TRAIN
        self.step = _Step(self.step.not_finite)
        self.statistics.remember()

    def begin_rehearsal(self, examples: int) -> None:
        """Begins a turn of so many examples whose results are thrown away."""
        self._begin(examples)
        self._look_alone()
        self._sums.begin(None, 0, 1)

    def _begin(self, examples: int) -> None:
        self.step = _Step()
        self.pass_examples = examples

    def end_rehearsal(self) -> None:
        """Throws the results of rehearsals away."""
        self.reducer.end()
        self.reducer.drop()
        self.statistics.undo()
        self.rehearsing = False

    def begin_pass(self, pass_number: int) -> Take:
        """Begins a pass and says which examples it takes."""
        take = self._take_share(pass_number)
        group, plan = self.members.group, self.members.plan
        assert group is not None
        alone = self.pod is not None and group.size * plan.passes == 1
        if group.size == 1:
            self._look_alone()
        self._sums.begin(group, pass_number, plan.passes, alone or self._measures(), keep=alone)
        return take

    def passed(self) -> bool:
        """Whether the turn had its backward pass.

        One that reached none of the parameters that the members have agreed on is one too, where the script trains
        others by now: the members agree on these, and take the step again.
        """
        if not self.reducer.done and not self.alternates:
            self._trained.look()
            if self._trained.changed:
                self._sums.end_pass()
        return self.reducer.done

    def _measures(self) -> bool:
        """Whether this step observes the noise."""
        assert self.members.state is not None
        return self.pod is not None and self.members.state.noise.of(self._number).is_due(self.counters.step)

    def _take_share(self, pass_number: int) -> Take:
        members = self.members
        assert members.group is not None
        assert members.sampler is not None
        self.step.pass_began = time.perf_counter()
        group, plan = members.group, members.plan
        self.pass_examples = plan.atomic_batch_size
        self.step.take = members.sampler.take(self.counters.cursor, plan, group.size, group.rank, pass_number)
        if self._pacer is not None:
            self._pacer.begin(plan.atomic_batch_size)
        return self.step.take

    def _look_alone(self) -> None:
        """Trains what the script wants trained, where no other member has to agree."""
        self._trained.look()
        if self._trained.changed:
            self._adopt()

    def _adopt(self) -> None:
        """Reduces what is trained now, on which the members agree."""
        if self._trained.changed:
            for parameter in self._trained.frozen:
                parameter.grad = None
            self._sums.adopt(self._trained.parameters)
            self._trained.settle()
            self._previous.clear()

    def _end_pass(self) -> None:
        """Lets a pass last as long as it is to."""
        if self._pacer is not None:
            self._pacer.end()

    def _computed(self) -> None:
        """Counts what a backward pass trained on, at its end."""
        step = self.step
        if self.rehearsing or step.take is None:
            return
        step.pass_seconds += self.reducer.computed_at - step.pass_began
        self.count(step.take)
        group = self.members.group
        if not self.reducer.last or group is None:
            # There is no group where it broke in a sum of the script since this pass began.
            return
        if self.pod is not None:
            self.pod.membership.waiting = True
        try:
            step.sent = self._send(group)
        except BrokenGroupError as e:
            step.error = e

    def count(self, take: Take) -> None:
        """Counts examples that the step trains on."""
        self.step.trained += AuditDigest.of(take.first_position, take.examples)

    def schedule(self, number: int, step: Callable[[], None]) -> None:
        """Moves a schedule of a learning rate to where the training is.

        Args:
            number: place of the schedule.
            step: moves it by one step of the initial batch.
        """
        # A schedule that is written for the initial batch keeps its shape at any batch. Where the last step brings
        # more than was left, it still ends where the work does: some schedules refuse to go beyond.
        due = min(self.counters.scale_invariant_steps, self.members.total_steps)
        for _ in range(self.counters.go_on(number, due)):
            step()

    def cleared(self, optimizer: int) -> None:
        """Notes that the script cleared the gradients of an optimizer, by its place."""

    def end_turn(self) -> None:
        """Ends a turn of the loader; the update has counted the step."""

    def logged(self, loss: float) -> None:
        """Notes a loss for the next report."""
        if not self.rehearsing:
            self._losses.append(loss)

    def exchange(self, loss_scale: float | None = None, optimizer: int = 0) -> bool:
        """Exchanges what must be known before an update is applied; whether it may be.

        Args:
            optimizer: whose update, by its place; there is one.
            loss_scale: by which a GradScaler multiplied the loss; None without one. With it, a gradient
                that is not finite is expected and the scaler's to skip.

        Raises:
            DivergedError, NotFiniteError: if the gradient is not finite.
        """
        step = self.step
        step.called = True
        if step.broken or step.exchanged is not None:
            return not step.broken
        if self.members.group is None:
            # It broke in a sum of the script's.
            self.give_up_step()
            return False
        if not self.passed():
            raise UsageError(
                "optimizer.step() ran without loss.backward() on the batch that the loader gave. Call backward() once"
                " for each batch, before step()."
            )
        try:
            error = self.reducer.error or step.error
            if error is not None:
                raise error
            assert self.members.group is not None
            step.exchanged = self._exchange(self.members.group, loss_scale)
            return True
        except BrokenGroupError as e:
            self.give_up_step()
            if isinstance(e, _TakenAgainError):
                log.warning("step %d is taken again: %s", self.counters.step, e)
                if e.compares:
                    self._compare(e.drifted)
            else:
                self.members.broke(e)
            return False
        finally:
            if self.pod is not None:
                self.pod.membership.waiting = False

    def _compare(self, drifted: bool) -> None:
        """Makes the states of all members equal.

        Raises:
            UsageError: if they differ, and are not to be made equal.
        """
        members = self.members
        assert members.group is not None
        assert members.state is not None
        try:
            if drifted:
                what = differences(members.group, members.state)
                if not self._comparison.repairs():
                    raise UsageError(
                        f"Replicas differ at step {self.counters.step}, in {what}. Whatever changes the model, the"
                        " optimizer or what was given to prepare() must do the same on all replicas."
                    )
                log.warning("replicas differ at step %d, in %s: all take the same state", self.counters.step, what)
            members.compare()
        except BrokenGroupError as e:
            members.broke(e)

    def give_up_step(self) -> None:
        """Gives a step up, which is taken again: what it changed is undone."""
        self.step.broken, self.step.exchanged = True, None
        self.reducer.end()
        if self.alternates:
            self.reducer.drop()
        # Else each pass begins without gradients, and the script may read those of this one, as for a log.
        self.statistics.undo()

    def _send(self, group: Group) -> _Sent:
        """Sends what the members must know before they apply the step, with the last of their gradients."""
        step, counters, plan = self.step, self.counters, self.members.plan
        if group.size > 1:
            # The script may have changed it since the pass began.
            self.trained.look()
        newer = self.members.newer()
        known = newer.generation if newer else group.generation
        loss = sum(self._losses) / len(self._losses) if self._losses else math.nan
        self._losses = []
        row = self.reducer.send_row(
            group,
            Kind.STEP,
            [
                *(counters.place, known, loss, self.reducer.squared_norms()),
                *(step.trained.count, step.trained.sum >> 32, step.trained.sum & 0xFFFFFFFF),
                step.pass_seconds / plan.passes,
                *(self.trained.signature, self.trained.changed),
                *self._comparison.sent(),
                group.rank == 0 and group.size > 1 and self._comparison.due(time.monotonic(), self._save_is_due()),
                self._number,
            ],
        )
        return _Sent(row, self.statistics.average(group), known, newer)

    def _exchange(self, group: Group, loss_scale: float | None) -> Exchanged:
        step, counters, plan = self.step, self.counters, self.members.plan
        sent, step.sent = step.sent, None
        assert sent is not None
        rows = sent.rows.wait()
        finite = sent.statistics()
        ended_at = time.perf_counter()
        for rank, row in enumerate(rows):
            if row[0] != counters.place:
                raise BrokenGroupError(f"rank {rank} is at step {row[0]:.6g}, not {counters.place:.6g}")
        self._require_the_same(rows)
        if loss_scale is None and self.pod is not None:
            self._require_finite(group, rows, finite)
        batch = plan.global_batch_size(group.size)
        assert self.members.state is not None
        self._observe(rows, 1.0 if loss_scale is None else 1.0 / loss_scale, batch)
        noise, optimizer = self.members.state.noise, self._number
        return Exchanged(
            rows,
            sent.newer if all(row[1] == sent.known for row in rows) else None,
            all(row[1] == group.generation for row in rows),
            learning_rate_factor(self._scalings[optimizer], batch / self._initial_batch, noise.of(optimizer).stats()),
            noise.gain(batch),
            ended_at,
        )

    def _observe(self, rows: list[list[float]], unscale: float, batch: int) -> None:
        assert self.members.state is not None
        noise, groups = self.members.state.noise.of(self._number), len(rows) * self.members.plan.passes
        if groups > 1:
            # A gradient from before is older than one step when a single group returns.
            self._previous.clear()
        if any(row[3] == NOT_MEASURED for row in rows):
            return
        squared_norm = self.reducer.squared_norm() * unscale**2
        if groups > 1:
            squares = sum(row[3] for row in rows) / groups * unscale**2
            noise.observe(groups, squares, squared_norm, batch)
        elif self.pod is not None:
            # Alone the batch never changes, and nobody asks for the noise.
            now = _Gradient(self.members.membership.generation, self.reducer.kept, squared_norm, batch)
            if unscale != 1.0:
                torch._foreach_mul_(now.values, unscale)
            before = self._previous.get(self._number)
            if before is not None and before.generation == now.generation:
                distance = squared_distance(now.values, before.values)
                product = (now.squared_norm + before.squared_norm - distance) / 2
                noise.observe_pair(product, distance, batch, before.batch)
            self._previous[self._number] = now

    def _require_the_same(self, rows: list[list[float]]) -> None:
        """Requires that all members train the parameters that they have summed the gradients of."""
        if any(row[8:10] != rows[0][8:10] for row in rows):
            raise UsageError(DIFFERENT)
        if any(row[13] != rows[0][13] for row in rows):
            raise UsageError(
                "Replicas step different optimizers at the same place. Which ones a batch trains must depend on"
                " job.step, not on what a replica sees."
            )
        if self.trained.changed:
            raise _TakenAgainError(f"{len(self.trained.parameters)} parameters are trained from here on", compares=True)
        if self._comparison.differ([row[10:12] for row in rows]):
            raise _TakenAgainError("replicas differ", compares=True, drifted=True)

    def _require_finite(self, group: Group, rows: list[list[float]], finite: bool) -> None:
        unfit = [rank for rank in range(group.size) if not math.isfinite(rows[rank][3])]
        if not unfit and finite and math.isfinite(self.reducer.squared_norm()):
            return
        if 0 < len(unfit) < group.size:
            if group.rank in unfit:
                raise NotFiniteError(
                    f"The gradient of this replica is not finite at step {self.counters.step}, that of the other"
                    f" {group.size - len(unfit)} is: they go on without it. If replicas fail so again and again, look"
                    " at the examples that they read, or at their device."
                )
            raise BrokenGroupError(f"the gradient of ranks {unfit} is not finite: the others take the step again")
        if self.step.repeats_not_finite:
            raise DivergedError(
                f"Training diverged at step {self.counters.step}: the gradient is not finite. Lower the learning"
                " rate, or clip the gradient."
            )
        self.step.not_finite = True
        raise _TakenAgainError("its gradient is not finite")

    def update(self, apply: Callable[[], R]) -> R:
        """Applies the update at the learning rate that fits the batch; the schedule's own rate stays."""
        exchanged = self.step.exchanged
        assert exchanged is not None
        groups = self._optimizers[self._number].param_groups
        rates = [group["lr"] for group in groups]
        for group in groups:
            group["lr"] = group["lr"] * exchanged.factor
        try:
            if self._number == 0:
                self.members.learning_rate = float(groups[0]["lr"])
            result = apply()
        finally:
            for group, rate in zip(groups, rates, strict=True):
                group["lr"] = rate
        self.step.updated = True
        return result

    def settle(self) -> None:
        """Counts the step; a step that a GradScaler skipped trained its examples and brought nothing."""
        exchanged = self.step.exchanged
        assert exchanged is not None
        # Of the exchange: since then the group may have broken in a sum of the script's.
        size, rank = len(exchanged.rows), self.members.rank
        self.step.exchanged = None
        self.reducer.end()
        counters = self.counters
        counters.step += 1
        counters.cursor += self.members.plan.global_batch_size(size)
        for row in exchanged.rows:
            counters.trained(AuditDigest(int(row[4]), (int(row[5]) << 32) | int(row[6])))
        if self.step.updated:
            counters.scale_invariant_steps += exchanged.gain
        if size > 1 and exchanged.rows[0][12]:
            assert self.members.state is not None
            self._comparison.take(self.members.state)
        start = self.members.history.stepped(size)
        if self.pod is not None:
            self.pod.membership.step = counters.step
            if start is not None:
                self.pod.membership.started(start)
            if rank == 0:
                if self.members.group is not None:
                    self._report(self.pod, exchanged)
                self._save_when_due(self.pod)
        if exchanged.newer is not None and not self.done:
            self.members.follow(exchanged.newer)

    def _report(self, pod: Pod, exchanged: Exchanged) -> None:
        rows, plan = exchanged.rows, self.members.plan
        seconds = max(row[7] for row in rows)
        sync = max(0.0, exchanged.ended_at - self.step.began - plan.passes * seconds)
        compute = seconds + time.perf_counter() - exchanged.ended_at
        losses = [row[2] for row in rows if math.isfinite(row[2])]
        loss = sum(losses) / len(losses) if losses else math.nan
        membership = self.members.membership
        pods = [m.pod for m in membership.members]
        first = self._first_step_of != membership.generation
        if first:
            self._cold.joined(pods)
        typical = exchanged.settled and not first and self._cold.warm and compute > 0
        self._first_step_of = membership.generation
        pod.telemetry.compared(pods, [row[7] for row in rows])
        pod.telemetry.stepped(StepSample(self.members.status(), typical, compute, sync, loss))

    def _save_is_due(self) -> bool:
        pod = self.pod
        return pod is not None and (
            pod.save_soon or time.monotonic() - self._last_save >= pod.config.spec.checkpoint_seconds
        )

    def _save_when_due(self, pod: Pod) -> None:
        assert self.members.state is not None
        if self._save_is_due():
            pod.save_soon, self._last_save = False, time.monotonic()
            pod.save(self.members.state.checkpoint, wait=False)

    def _renew(self) -> None:
        self.reducer.renew()
        self._previous.clear()
