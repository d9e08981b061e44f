"""State of a script for AdaptDL, whose names know of each other without being given to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from kastor.errors import UsageError
from kastor.torch.job import Job
from kastor.torch.start import init

if TYPE_CHECKING:
    from kastor.compat.adaptdl.torch.parallel import AdaptiveDataParallel


class Script:
    """Job of this process, with what the script has made for it so far; the script's thread uses it."""

    def __init__(self) -> None:
        self.joined: Job | None = None
        self.models: list[AdaptiveDataParallel] = []
        self.prepared = False
        self.loader: Any = None
        self.examples: int | None = None
        self.epochs: float | None = None
        self.in_epoch = False
        # Updates of accumulators in the step in progress: the values, the key, and what was there before.
        self._updates: list[tuple[dict[str, float], str, float | None]] = []
        self._in_turn = False

    @property
    def job(self) -> Job:
        """Job of this process.

        Raises:
            UsageError: if the script has not joined one.
        """
        if self.joined is None:
            raise UsageError("Call init_process_group() first.")
        return self.joined

    def join(self) -> Job:
        """Makes this process a replica, once."""
        if self.joined is None:
            self.joined = init()
        return self.joined

    def add(self, model: AdaptiveDataParallel) -> int:
        """Takes a model of the script; its place among them.

        Raises:
            UsageError: if it comes too late, or has the name of another one.
        """
        self.job  # noqa: B018 - one that is not there is an error
        if self.prepared:
            raise UsageError(
                "AdaptiveDataParallel() was called after the first loop over batches began. Make all models before it."
            )
        if any(other.name == model.name for other in self.models):
            raise UsageError(
                f"Two models have the name {model.name!r}. Give each AdaptiveDataParallel() a name of its own."
            )
        self.models.append(model)
        return len(self.models) - 1

    def prepare(self) -> None:
        """Registers all models together, as the first loop begins: only then is known how many there are."""
        if self.prepared or not self.models:
            return
        states = [model._state for model in self.models]
        scalers = list({id(s.mp_scaler): s.mp_scaler for s in states if s.mp_scaler is not None}.values())
        if len(scalers) > 1:
            raise UsageError("The models have several GradScalers. Give all of them the same one as mp_scaler.")
        schedulers = [s.lr_scheduler for s in states if s.lr_scheduler is not None]
        models: torch.nn.Module = states[0].model
        if len(states) > 1:
            models = torch.nn.ModuleDict({model.name: model.module for model in self.models})
        self.job.prepare(models, [s.optimizer for s in states], schedulers or None, *scalers)
        self.prepared = True

    def turn(self) -> None:
        """Begins a turn of the training loop: what it adds to accumulators counts if its step does."""
        self._in_turn = True

    def turned(self) -> None:
        """Ends the turn: what belongs to a rehearsal, or to a step that is taken again, is undone."""
        training = self.job._training
        self._in_turn = False
        if training.rehearsing or training.step.broken:
            for values, key, before in reversed(self._updates):
                if before is None:
                    values.pop(key, None)
                else:
                    values[key] = before
        elif not training.reducer.last:
            return
        self._updates.clear()

    def updates(self, values: dict[str, float], key: str) -> None:
        """Notes that a value of an accumulator is about to change."""
        if self._in_turn:
            self._updates.append((values, key, values.get(key)))


script = Script()
"""State of the script that this process runs."""
