"""Steps of the script's own optimizer, scheduler and scaler, held to the steps that all replicas take.

Methods of the given instances alone are replaced; the classes, and other instances, stay as they are.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

import torch

from kastor.errors import UsageError
from kastor.torch.training import Training


class _Scope:
    """Scope in which the replaced methods act otherwise: a turn of the loader."""

    def __init__(self, training: Training) -> None:
        self.training = training
        self.in_turn = False
        self.scaler_steps = False

    @property
    def idle(self) -> bool:
        """Whether no step is due: in a rehearsal, and in all passes but the last."""
        return self.training.rehearsing or not self.training.reducer.last


class Patches:
    """Replaced methods of optimizers, their schedulers and their scaler."""

    def __init__(
        self,
        training: Training,
        optimizers: Sequence[torch.optim.Optimizer],
        schedulers: Sequence[Any],
        scaler: Any | None,
    ) -> None:
        self._scope = _Scope(training)
        for number, optimizer in enumerate(optimizers):
            _patch_optimizer(self._scope, optimizer, number)
        for number, scheduler in enumerate(schedulers):
            _patch_scheduler(self._scope, scheduler, number)
        if scaler is not None:
            _patch_scaler(self._scope, scaler, optimizers)

    def turn(self, begins: bool) -> None:
        """Begins or ends a turn of the loader."""
        self._scope.in_turn = begins


def _patch_optimizer(scope: _Scope, optimizer: torch.optim.Optimizer, number: int) -> None:
    original: Callable[..., Any] = optimizer.step
    original_zero: Callable[..., Any] = optimizer.zero_grad

    @functools.wraps(original)
    def step(_: Any, closure: Callable[[], Any] | None = None, *args: Any, **kwargs: Any) -> Any:
        if not scope.in_turn:
            return original(closure, *args, **kwargs) if closure is not None else original(*args, **kwargs)
        # Frameworks run forward and backward in the closure.
        loss = closure() if closure is not None else None
        training = scope.training
        if scope.idle:
            training.step.called = True
        elif scope.scaler_steps:
            training.update(lambda: original(*args, **kwargs))
        elif training.exchange(optimizer=number):
            training.update(lambda: original(*args, **kwargs))
            training.settle()
        return loss

    @functools.wraps(original_zero)
    def zero_grad(*args: Any, **kwargs: Any) -> None:
        if not scope.in_turn or scope.training.alternates:
            original_zero(*args, **kwargs)
            scope.training.cleared(number)
        # In a turn of one optimizer, the beginning of each pass does it.

    # A method, which is what a scheduler that is made later looks for.
    optimizer.step = types.MethodType(step, optimizer)  # type: ignore[method-assign]
    optimizer.zero_grad = zero_grad  # type: ignore[method-assign]


def _patch_scheduler(scope: _Scope, scheduler: Any, number: int) -> None:
    original: Callable[..., Any] = scheduler.step

    @functools.wraps(original)
    def step(_: Any, *args: Any, **kwargs: Any) -> None:
        if not scope.in_turn:
            original(*args, **kwargs)
            return
        if scope.idle or scope.training.step.broken:
            return
        if args or kwargs:
            raise UsageError(
                "scheduler.step() takes no arguments in the loop over batches: a schedule there is in steps of the"
                " initial batch. Call one that follows a metric after the loop, once an epoch."
            )
        scope.training.schedule(number, original)

    # The state_dict of a scheduler is all that its instance holds, so the method goes into a class.
    kind = type(scheduler)
    scheduler.__class__ = type(kind.__name__, (kind,), {"step": step, "__module__": kind.__module__})


def _patch_scaler(scope: _Scope, scaler: Any, optimizers: Sequence[torch.optim.Optimizer]) -> None:
    numbers = {id(optimizer): number for number, optimizer in enumerate(optimizers)}
    original_step: Callable[..., Any] = scaler.step
    original_unscale: Callable[..., Any] = scaler.unscale_
    original_update: Callable[..., Any] = scaler.update

    @functools.wraps(original_step)
    def step(target: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        if not scope.in_turn or id(target) not in numbers:
            return original_step(target, *args, **kwargs)
        training = scope.training
        if scope.idle:
            # It would look for values that are not finite, and there is no step to skip.
            training.step.called = True
            return None
        scale = float(scaler.get_scale()) if scaler.is_enabled() else None
        if not training.exchange(scale, numbers[id(target)]):
            return None
        scope.scaler_steps = True
        try:
            result = original_step(target, *args, **kwargs)
        finally:
            scope.scaler_steps = False
        training.settle()
        return result

    @functools.wraps(original_unscale)
    def unscale_(target: torch.optim.Optimizer) -> None:
        if not (scope.in_turn and id(target) in numbers and scope.idle):
            original_unscale(target)

    @functools.wraps(original_update)
    def update(*args: Any, **kwargs: Any) -> None:
        if scope.in_turn and scope.idle:
            return
        if scope.in_turn and scope.training.step.broken and scaler.is_enabled():
            # Forgets what it found in gradients that are not applied, and keeps its scale.
            original_update(scaler.get_scale())
            return
        original_update(*args, **kwargs)

    scaler.step, scaler.unscale_, scaler.update = step, unscale_, update
