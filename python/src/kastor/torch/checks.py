"""Checks of what a script gives to ``prepare()``: each message names what to change."""

from __future__ import annotations

import gc
import math
import numbers
import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from kastor.errors import UsageError
from kastor.torch.rates import unwrapped

SCHEDULERS = (LRScheduler, ReduceLROnPlateau)


def require_trainable(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Requires a model and an optimizer whose gradients replicas can share.

    Raises:
        UsageError: if there are sparse gradients, parameters without a shape or that are complex, or a rate that is no
            number.
    """
    for name, module in model.named_modules():
        embeds = isinstance(module, (torch.nn.Embedding, torch.nn.EmbeddingBag))
        if embeds and module.sparse and module.weight.requires_grad:
            raise UsageError(
                f"{_of(model, name)} has sparse gradients, and replicas sum dense ones. Leave sparse=True out, and take"
                " an optimizer for dense gradients."
            )
    for name, parameter in model.named_parameters():
        if isinstance(parameter, torch.nn.parameter.UninitializedParameter):
            raise UsageError(
                f"Parameter {name} has no shape yet. Run the model once on a batch, then make the optimizer and call"
                " prepare()."
            )
        if parameter.is_complex() and parameter.requires_grad:
            raise UsageError(
                f"Parameter {name} is complex, and replicas sum real gradients. Keep torch.view_as_real() of it as the"
                " parameter, and use torch.view_as_complex() where the model computes."
            )
    for number, group in enumerate(optimizer.param_groups):
        rate = group.get("lr")
        if not isinstance(rate, (numbers.Real, torch.Tensor)) or not math.isfinite(float(rate)):
            raise UsageError(
                f"The learning rate of group {number} is {rate!r}, and Kastor has to scale it with the batch. Give the"
                f" {type(optimizer).__name__} a number as lr."
            )


class UnregisteredSchedulers:
    """Schedulers of optimizers that ``prepare()`` was not given, and where each was when it was first seen.

    One that is stepped is refused: in the loop over batches it would go on once a pass, and it is in no checkpoint and
    with no replica that joins.
    """

    def __init__(self, optimizers: Iterable[torch.optim.Optimizer], registered: Iterable[Any]) -> None:
        self._optimizers, self._known = [unwrapped(each) for each in optimizers], set[int]()
        self._seen: dict[int, tuple[weakref.ref[Any], int]] = {}
        todo = list(registered)
        while todo:
            each = todo.pop()
            if id(each) not in self._known:
                self._known.add(id(each))
                if isinstance(each, SCHEDULERS):
                    # Of SequentialLR and ChainedScheduler.
                    todo += getattr(each, "_schedulers", [])
        self._look()

    def look(self) -> None:
        """Finds those that were made since, and looks at all.

        Raises:
            UsageError: if one of them was stepped.
        """
        self._look(0)
        self.require_unused()

    def require_unused(self) -> None:
        """Looks at those that are known.

        Raises:
            UsageError: if one of them was stepped.
        """
        for reference, at in self._seen.values():
            found = reference()
            if found is not None and found.last_epoch != at:
                raise UsageError(
                    f"The {type(found).__name__} of the optimizer is stepped, and prepare() was not given it. Make it"
                    " before, and call job.prepare(model, optimizer, scheduler); a second one as a named argument."
                )

    def _look(self, at: int | None = None) -> None:
        self._seen = {each: seen for each, seen in self._seen.items() if seen[0]() is not None}
        for found in gc.get_objects():
            # By the type alone: asking some objects for their class runs code of theirs.
            if not issubclass(type(found), SCHEDULERS) or id(found) in self._known or id(found) in self._seen:
                continue
            of = unwrapped(getattr(found, "optimizer", None))
            if any(of is each for each in self._optimizers):
                self._seen[id(found)] = (weakref.ref(found), found.last_epoch if at is None else at)


def _of(model: torch.nn.Module, name: str) -> str:
    return f"{name or 'The model'} ({type(model.get_submodule(name)).__name__})"
