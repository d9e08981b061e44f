"""Members of the job as this replica lives them: it joins generations, leaves them, and ends."""

from __future__ import annotations

import logging
import math
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch

from kastor.errors import UsageError
from kastor.protocol import (
    Action,
    BatchPlan,
    Doing,
    Member,
    Membership,
    Outcome,
    OutcomeKind,
    Phase,
    Progress,
)
from kastor.sampler import ElasticSampler
from kastor.starting import Source
from kastor.telemetry import TrainingStatus
from kastor.torch.group import BrokenGroupError, Group, Kind
from kastor.torch.join import History, agree
from kastor.torch.nccl import NcclSum
from kastor.torch.pod import Pod
from kastor.torch.state import TrainingState

log = logging.getLogger("kastor")

_RETRY_SECONDS = 0.25


class Members:
    """Membership of this replica in the generations that the operator publishes.

    ``group`` is the group of the generation that it trains in, None between two; ``rank``, ``size`` and
    ``plan`` are those of the last one, so that a script reads the same on all members after a step.
    Without a pod the group is of this replica alone, for ever. The script's thread owns it.
    """

    def __init__(self, pod: Pod | None, device: torch.device) -> None:
        self.pod, self._device = pod, device
        self.group: Group | None = None
        self.rank, self.size = 0, 1
        self.plan = BatchPlan(1)
        self.membership = Membership(0, Action.RUN, (Member("", 0, "", ""),))
        self.history = History()
        self.state: TrainingState | None = None
        self.sampler: ElasticSampler | None = None
        self.total_steps = math.inf
        self.learning_rate: float | None = None
        self.on_end: Callable[[Outcome], None] = lambda outcome: None
        self.on_stuck: Callable[[], None] = lambda: None
        self.on_agreed: Callable[[], None] = lambda: None
        self._agreed: Membership | None = None

    def newer(self) -> Membership | None:
        """Newest membership beyond the generation we are in."""
        return self.pod.newer() if self.pod else None

    def follow(self, agreed: Membership) -> None:
        """Notes a newer generation to which all members switch after the turn in which they applied a step.

        Until then the group stays, for sums of the script's.
        """
        self._agreed = agreed

    def require_group(self) -> Group:
        """Group to train in: joins one where there is none.

        Raises:
            SystemExit: 0, where this replica is told to stop or to leave.
        """
        if self._agreed is not None and self._agreed.action is Action.STOP and self.group is not None:
            self._stop_together(self.group)
        while self.group is None or self._agreed is not None:
            self._join_next()
        return self.group

    def broke(self, why: BrokenGroupError) -> None:
        """Leaves a group that broke and tells the operator."""
        log.warning("generation %d: %s", self.group.generation if self.group else self.membership.generation, why)
        if self.group is not None and self.group.stuck:
            self.on_stuck()
        self.history.broken = True
        self.leave_group()
        if self.pod is not None:
            self.pod.broke()

    def leave_group(self) -> None:
        """Closes the group."""
        group, self.group = self.group, None
        if group is not None:
            group.close()
            if self.pod is not None:
                self.pod.left(group.formed)

    def _join_next(self) -> None:
        assert self.state is not None
        if self.pod is None:
            self.plan = BatchPlan(self.state.noise.initial_batch)
            self.group = Group(self.membership, 0, None, "", lambda _: False)
            self.history.lineage = 0
            return
        target, self._agreed = self._agreed or self.pod.next(), None
        rank = target.rank(self.pod.config.pod)
        if target.action is Action.STOP:
            self._stop_alone()
        if target.action is Action.LEAVE or rank is None:
            self._end(OutcomeKind.LEFT, "no longer a member")
            raise SystemExit(0)
        if self.group is not None and not self.group.serves(target):
            self.leave_group()
        self.history.called()
        try:
            connect = self.pod.connect(target)
            if self.group is not None:
                self.group.generation = target.generation
            else:
                sums = None
                if self._device.type == "cuda":
                    sums = lambda group, store: NcclSum(group, store, self._device)  # noqa: E731
                self.group = Group(target, rank, connect, self.pod.config.pod_ip, self.pod.given_up, sums)
            change = agree(self.group, self.state, self.history, self._start)
        except BrokenGroupError as e:
            if self.group is None:
                # Nothing was exchanged yet; those that are missing may be about to be replaced.
                time.sleep(_RETRY_SECONDS)
            self.broke(e)
            return
        self.on_agreed()
        self.membership, self.plan = target, target.batch_plan
        self.rank, self.size = rank, self.group.size
        self.pod.membership.step = self.state.counters.step
        self.pod.membership.moved(target.generation, Phase.TRAINING)
        log.info(
            "%s: rank %d of %d in generation %d, batch %d x %d, %s, pause %.0f ms",
            self.pod.config.job_name,
            rank,
            self.group.size,
            target.generation,
            self.plan.atomic_batch_size,
            self.plan.passes,
            change.cause.value,
            1000 * change.pause_seconds,
        )
        if rank == 0:
            self.pod.telemetry.switched(change)
            self.pod.telemetry.reached(self.status())

    def compare(self) -> None:
        """Brings the members of the group to one state, to the bit, where something may have made them differ.

        Raises:
            BrokenGroupError: if the group broke.
        """
        assert self.group is not None
        assert self.state is not None
        self.history.broken = True
        agree(self.group, self.state, self.history, self._start)
        self.history.broken = False
        self.on_agreed()

    def _start(self) -> Source:
        """Makes the state where no member has any, and says where it came from.

        It is that of the newest checkpoint, else as the script made it, with the model of another job where
        the spec names one. That is saved at once, so that no later start depends on the other job.
        """
        assert self.pod is not None
        assert self.state is not None
        with self.pod.membership.while_doing(Doing.LOAD):
            found = self.pod.newest_checkpoint()
            if found is not None:
                self.state.restore_checkpoint(found)
                log.info("starts from the checkpoint of step %d", found.step)
                return Source.CHECKPOINT
            if self.pod.config.spec.warm_start is not None:
                step = self.pod.warm_start(self.pod.config.spec.warm_start, self.state.begin_with)
                self.pod.save(self.state.checkpoint, wait=True)
                log.info("takes the model of job %s at step %d", self.pod.config.spec.warm_start.job, step)
                return Source.CHECKPOINT
            log.info("starts from the initial parameters")
            return Source.INITIAL

    # --- ends ---

    def at_the_end(self, on_rank_0: Callable[[], None]) -> bool:
        """Does something on rank 0 while the others wait; whether this replica is rank 0.

        A group that breaks meanwhile is formed anew, so that nobody goes before it is done.
        """
        while True:
            group = self.require_group()
            try:
                if group.rank == 0:
                    on_rank_0()
                group.rows(Kind.END, [])
                return group.rank == 0
            except BrokenGroupError as e:
                self.broke(e)

    def save(self) -> None:
        """Saves before it returns."""
        if self.pod is not None and self.state is not None:
            with self.pod.membership.while_doing(Doing.SAVE):
                self.pod.save(self.state.checkpoint, wait=True)

    def _stop_together(self, group: Group) -> None:
        try:
            if group.rank == 0:
                self.save()
            group.rows(Kind.END, [])
        except BrokenGroupError as e:
            self._agreed = None
            self.broke(e)
            return
        self._end(OutcomeKind.STOPPED, self._stopped(), report=group.rank == 0)
        raise SystemExit(0)

    def _stop_alone(self) -> None:
        """Told to stop while in no group: nobody else may be left, so we save what we have."""
        if self.history.has_state:
            self.save()
        self._end(OutcomeKind.STOPPED, self._stopped())
        raise SystemExit(0)

    def _stopped(self) -> str:
        return f"stopped at step {self.state.counters.step}" if self.state is not None else "stopped"

    def _end(self, kind: OutcomeKind, message: str, report: bool = False) -> None:
        outcome = self.outcome(kind, message)
        if report and self.pod is not None:
            self.pod.telemetry.finish(outcome)
        self.leave_group()
        self.on_end(outcome)

    # --- what is told ---

    def outcome(self, kind: OutcomeKind, message: str, metric: tuple[str, float] | None = None) -> Outcome:
        """Outcome with the progress and the audit of this replica's state."""
        if not self.history.has_state or self.sampler is None or self.state is None:
            return Outcome(kind, message)
        counters = self.state.counters
        lost = counters.audit.lost_or_repeated(self.sampler.expected(counters.cursor))
        name, value = metric or (None, None)
        return Outcome(kind, message, self.progress(), name, value, lost)

    def progress(self) -> Progress:
        """Progress after the last step."""
        if self.state is None or self.sampler is None:
            return Progress(0, 0.0, 0.0, 0, 0)
        c = self.state.counters
        total = self.total_steps if math.isfinite(self.total_steps) else 0.0
        return Progress(c.step, c.done, total, c.cursor, self.sampler.epoch(c.cursor))

    def status(self) -> TrainingStatus:
        """Status for the operator."""
        assert self.group is not None
        assert self.state is not None
        return TrainingStatus(
            self.group.generation,
            self.membership.nodes,
            self.membership.gpu_type,
            self.group.size,
            self.plan,
            self.progress(),
            self.state.noise.stats(),
            self.learning_rate,
        )

    def rows(self, values: Sequence[float]) -> list[list[float]]:
        """Values of each member, in rank order; those of this replica alone where the group breaks meanwhile."""
        if self.group is not None:
            try:
                with self._waiting():
                    return self.group.rows(Kind.SUM, values)
            except BrokenGroupError as e:
                self._broke_in_sum(e)
        return [list(values)]

    def gather(self, tensor: torch.Tensor) -> torch.Tensor:
        """Rows of a tensor of each member, in rank order; those of this replica alone where the group breaks.

        Raises:
            UsageError: if the tensors of the members have not the same type, and the same shape but for their length.
        """
        group = self.group
        if group is None or group.size == 1:
            return tensor
        kind = zlib.crc32(f"{tensor.dtype} {tuple(tensor.shape[1:])}".encode())
        try:
            with self._waiting():
                rows = group.rows(Kind.GATHER, [len(tensor), kind])
            if any(row[1] != kind for row in rows):
                raise UsageError(
                    f"gather() was given a tensor of {tensor.dtype} and shape {tuple(tensor.shape)}, and another one on"
                    " another replica. Give tensors of one type, which differ in their first dimension alone."
                )
            lengths = [int(row[0]) for row in rows]
            own = tensor.detach().cpu().contiguous()
            all_of_them = own.new_zeros(sum(lengths), *own.shape[1:])
            first = sum(lengths[: group.rank])
            all_of_them[first : first + len(own)] = own
            if all_of_them.numel():
                # As bytes, so that the sum with zeros is what was given, whatever the type.
                group.sum(all_of_them.view(-1).view(torch.uint8)).wait()
            return all_of_them.to(tensor.device)
        except BrokenGroupError as e:
            self._broke_in_sum(e)
            return tensor

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Context in which this replica waits for the others, who may be slow for reasons of their own."""
        membership = self.pod.membership if self.pod is not None else None
        if membership is not None:
            membership.waiting = True
        try:
            yield
        finally:
            if membership is not None:
                membership.waiting = False

    def _broke_in_sum(self, why: BrokenGroupError) -> None:
        log.warning("a mean, a sum or what was gathered is of this replica's own values alone")
        self.broke(why)
