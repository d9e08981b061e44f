"""Training by several optimizers, which a script steps one after the other on each batch."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence

import torch

from kastor.errors import UsageError
from kastor.sampler import Take
from kastor.torch.backward import BackwardReducer
from kastor.torch.group import BrokenGroupError
from kastor.torch.state import Stateful
from kastor.torch.statistics import BatchStatistics
from kastor.torch.trained import FixedGroups
from kastor.torch.training import Exchanged, Training


class AlternatingTraining(Training):
    """Training whose steps are made of updates of several optimizers, each exchanged for itself.

    A step is done when the script asks for the next batch. Where the group breaks between two updates, the members
    agree on the state of those who came farthest, and all take the batch again; updates that this state has are not
    applied a second time (``Counters.applied``). The script's thread owns it.
    """

    alternates = True

    def prepare_all(
        self,
        model: torch.nn.Module,
        optimizers: Sequence[torch.optim.Optimizer],
        parts: Mapping[str, Stateful],
    ) -> None:
        """Takes the objects whose state is that of the training.

        Raises:
            UsageError: if a parameter is in two optimizers, or in one and not in the model.
        """
        self._take(optimizers, parts)
        self.trained = FixedGroups(model, optimizers)
        self._reducer = self.reducer = BackwardReducer(self.trained.of)
        self._reducer.on_wait = self._wait
        self._reducer.on_pass = self._end_pass
        # A replica that joins has no gradients, so the others may keep none of theirs either.
        self.members.on_agreed = self._reducer.drop
        self._reducer.keep = self.pod is not None
        self.statistics = BatchStatistics(model)
        self._exchanges: list[Exchanged] = []
        self._schedules: list[tuple[int, Callable[[], None]]] = []
        self._observed: set[int] = set()
        self._begun = 0

    def begin_rehearsal(self, examples: int) -> None:
        """Begins a turn of so many examples whose results are thrown away."""
        self._begin(examples)
        self._reducer.begin(None)

    def begin_pass(self, pass_number: int) -> Take:
        """Begins the one pass of a step and says which examples it takes.

        Raises:
            UsageError: if the plan has several passes.
        """
        if self.members.plan.passes > 1:
            raise UsageError(NO_ACCUMULATION)
        self.trained.look()
        take = self._take_share(pass_number)
        self.count(take)
        self._exchanges, self._schedules, self._begun = [], [], 0
        self._observed.clear()
        self._reducer.begin(self.members.group)
        return take

    def exchange(self, loss_scale: float | None = None, optimizer: int = 0) -> bool:
        """Exchanges what must be known before an update is applied; whether it may be."""
        step = self.step
        if not step.broken:
            self._begun += 1
            if self._begun <= self.counters.applied:
                # This state has it: the step broke after it.
                step.called = True
                return False
            if not self._reducer.has_reached(optimizer):
                raise UsageError(
                    f"Optimizer {optimizer} was stepped without a backward pass that reached its parameters on this"
                    " batch. Call backward() on its loss before step()."
                )
            self._reducer.select(optimizer)
            self._number = optimizer
            step.pass_seconds = self._reducer.computed_at - step.pass_began - self._reducer.waited_before
            if self.members.group is not None and self._reducer.error is None:
                self._wait(True)
                try:
                    step.sent = self._send(self.members.group)
                except BrokenGroupError as e:
                    step.error = e
        began = time.perf_counter()
        try:
            return super().exchange(loss_scale, optimizer)
        except Exception:
            # The step is not done, even where the script goes on.
            step.broken = True
            raise
        finally:
            self._reducer.waited += time.perf_counter() - began

    def cleared(self, optimizer: int) -> None:
        """Notes that the script cleared the gradients of an optimizer, by its place."""
        self._reducer.clear(optimizer)

    def settle(self) -> None:
        """Counts an update."""
        exchanged = self.step.exchanged
        assert exchanged is not None
        self._exchanges.append(exchanged)
        self.step.exchanged = None
        self.counters.applied += 1
        if len(exchanged.rows) > 1:
            self.statistics.hold()

    def schedule(self, number: int, step: Callable[[], None]) -> None:
        """Notes that the script steps a schedule of a learning rate, which moves once the step is done.

        One that goes with an optimizer that is not stepped on each batch moves with the batches on which it is, and a
        step that is taken again moves it once.

        Args:
            number: place of the schedule.
            step: moves it by one step of the initial batch.
        """
        self._schedules.append((number, step))

    def _observe(self, rows: list[list[float]], unscale: float, batch: int) -> None:
        # A second update on the same examples shows no variance between examples.
        if self._number not in self._observed:
            self._observed.add(self._number)
            super()._observe(rows, unscale, batch)

    def end_turn(self) -> None:
        """Counts the step, once the script asks for the next batch."""
        self._reducer.end()
        if self.rehearsing or self.step.broken:
            return
        if not self._exchanges:
            if self.counters.applied:
                raise UsageError(
                    "The batch was taken again after a failure, and fewer optimizers were stepped than at first. Which"
                    " ones a batch trains must depend on job.step alone."
                )
            return
        if len(self._exchanges[-1].rows) > 1:
            # A forward pass after the last update is this replica's own.
            self.statistics.put_back()
        exchanged = self.step.exchanged = self._joined(self._exchanges)
        self._exchanges = []
        self._move(exchanged.gain if self.step.updated else 0.0)
        self.counters.applied = 0
        super().settle()

    def _move(self, gain: float) -> None:
        """Moves the schedules that the script stepped on this batch, by what it brought for each time."""
        gain = min(gain, max(0.0, self.members.total_steps - self.counters.scale_invariant_steps))
        for number, step in self._schedules:
            for _ in range(self.counters.go_on(number, self.counters.due_of(number) + gain)):
                step()
        self._schedules = []

    def _wait(self, waits: bool) -> None:
        """Notes for the operator whether this replica waits for others."""
        if self.pod is not None:
            self.pod.membership.waiting = waits

    @staticmethod
    def _joined(exchanges: Sequence[Exchanged]) -> Exchanged:
        """Joins the exchanges of all updates of a step: the last one, with losses and comparisons of any of them."""
        last = exchanges[-1]
        rows = [list(row) for row in last.rows]
        for rank, row in enumerate(rows):
            losses = [each.rows[rank][2] for each in exchanges if math.isfinite(each.rows[rank][2])]
            row[2] = sum(losses) / len(losses) if losses else math.nan
            row[12] = max(each.rows[rank][12] for each in exchanges)
        return dataclasses.replace(last, rows=rows)


NO_ACCUMULATION = (
    "Several optimizers are stepped one after the other, so the passes of a step cannot be added up. Set"
    " goodput.batchSize.gradientAccumulation to false (kastor run --no-accumulation)."
)
"""Message where a job with several optimizers may accumulate gradients."""
