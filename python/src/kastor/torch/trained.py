"""Parameters that a training changes: a script may choose others while it trains."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

import torch

from kastor.errors import UsageError

_FOREIGN = (
    "The optimizer has parameters that the model has not, so they would not be shared. Give prepare() the module that"
    " holds them all, and add_param_group() parameters of it."
)


class Trained:
    """Parameters of a model that are trained, and their groups in the optimizer, as they were last looked at.

    Scripts freeze and unfreeze parameters, replace modules and add groups while they train. ``signature`` is equal on
    replicas that train the same: parameters of the same names, shapes and types in the same groups. ``changed`` is set
    from when a look finds others until :meth:`settle`. One thread uses it.
    """

    def __init__(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self._model, self._optimizer = model, optimizer
        self._all: list[torch.nn.Parameter] = []
        self._seen: tuple[Any, ...] = ()
        self.parameters: list[torch.nn.Parameter] = []
        self.signature = 0
        self.changed = False
        self.look()

    @property
    def frozen(self) -> list[torch.nn.Parameter]:
        """Parameters of the model that are not trained."""
        return [p for p in self._all if not p.requires_grad]

    def look(self) -> None:
        """Looks at the model and the optimizer as they are now.

        Raises:
            UsageError: if the optimizer has parameters that the model has not.
        """
        every = _parameters(self._model)
        groups = [[id(p) for p in group["params"]] for group in self._optimizer.param_groups]
        # By id: a tensor's hash takes longer. The parameters are kept, so that no other one gets the id of one of them.
        seen = ([(id(p), p.requires_grad, p.dtype, p.device, p.shape) for p in every], groups)
        if seen == self._seen:
            return
        known = {id(p) for p in every}
        if any(each not in known for group in groups for each in group):
            raise UsageError(_FOREIGN)
        for parameter in [p for p in self._optimizer.state if isinstance(p, torch.Tensor) and id(p) not in known]:
            # Of a module that was replaced: the optimizer could not write its state down.
            del self._optimizer.state[parameter]
        self._all, self._seen = every, seen
        self.parameters = [p for p in every if p.requires_grad]
        shown = [(name, list(p.shape), str(p.dtype)) for name, p in self._model.named_parameters() if p.requires_grad]
        self.signature = zlib.crc32(json.dumps([shown, self._places()]).encode())
        self.changed = True

    def settle(self) -> None:
        """Notes that the parameters are those that all members reduce."""
        self.changed = False

    def state(self) -> dict[str, Any]:
        """Which parameters are trained and in which group each is, by their place among those of the model."""
        flags = "".join("1" if p.requires_grad else "0" for p in self._model.parameters())
        return {"trained": flags, "groups": self._places()}

    def restore(self, state: dict[str, Any]) -> None:
        """Freezes and unfreezes parameters, and makes groups of the optimizer, as another replica had them.

        A replica that joins runs the script from its first epoch on, and has not come to where the others changed them.

        Raises:
            UsageError: if the model has other parameters.
        """
        every = list(self._model.parameters())
        trained, places = str(state["trained"]), state["groups"]
        if len(trained) != len(every) or any(place >= len(every) for group in places for place in group):
            raise UsageError(f"'model' has {len(every)} parameters, but it is of one that had {len(trained)}.")
        for parameter, flag in zip(every, trained, strict=True):
            parameter.requires_grad_(flag == "1")
        if places != self._places():
            groups = self._optimizer.param_groups
            del groups[len(places) :]
            for group in groups:
                group["params"] = []
            for number, group in enumerate(places):
                parameters = [every[place] for place in group]
                if number < len(groups):
                    groups[number]["params"] = parameters
                else:
                    self._optimizer.add_param_group({"params": parameters})
        self.look()

    def _places(self) -> list[list[int]]:
        place = {id(p): number for number, p in enumerate(self._model.parameters())}
        return [[place[id(p)] for p in group["params"]] for group in self._optimizer.param_groups]


class FixedGroups:
    """Parameters of several optimizers, which stay the same: those of each are trained when it steps.

    Scripts with several optimizers freeze the parameters of the others while one of them trains, which changes nothing
    here. One thread uses it.
    """

    changed = False

    def __init__(self, model: torch.nn.Module, optimizers: Sequence[torch.optim.Optimizer]) -> None:
        self._model, self._optimizers = model, optimizers
        self._seen = self._groups()
        names = {id(p): (name, list(p.shape), str(p.dtype)) for name, p in model.named_parameters()}
        owners: dict[int, int] = {}
        for number, groups in enumerate(self._seen):
            for each in (each for group in groups for each in group):
                if each not in names:
                    raise UsageError(_FOREIGN)
                if owners.setdefault(each, number) != number:
                    raise UsageError(
                        f"Parameter {names[each][0]} is in two optimizers. Give each parameter to one of them, so that"
                        " it is clear whose step applies its gradient."
                    )
        # Held, so that no other parameter gets the id of one of them.
        every = [p for p in _parameters(model) if id(p) in owners]
        self.of = [[p for p in every if owners[id(p)] == number] for number in range(len(optimizers))]
        shown = [[names[id(p)] for p in group] for group in self.of]
        self.signature = zlib.crc32(json.dumps(shown).encode())

    @property
    def parameters(self) -> list[torch.nn.Parameter]:
        """Parameters of all optimizers."""
        return [p for group in self.of for p in group]

    def look(self) -> None:
        """Looks at the optimizers as they are now.

        Raises:
            UsageError: if one of them has other parameters than before.
        """
        if self._groups() != self._seen:
            raise UsageError(
                "An optimizer got other parameters than it had in prepare(). Give several optimizers all that they are"
                " ever to train before: parameters of one alone may come later."
            )

    def state(self) -> dict[str, Any]:
        """Nothing that could change."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Takes over nothing."""

    def _groups(self) -> list[list[list[int]]]:
        return [[[id(p) for p in group["params"]] for group in each.param_groups] for each in self._optimizers]


def modules_of(model: torch.nn.Module) -> list[torch.nn.Module]:
    """Returns what ``model.modules()`` does, in its order; that takes longer, as it makes names."""
    found: dict[int, torch.nn.Module] = {}
    left: list[torch.nn.Module | None] = [model]
    while left:
        module = left.pop()
        if module is not None and id(module) not in found:
            found[id(module)] = module
            if module._modules:
                left += reversed(module._modules.values())
    return list(found.values())


def _parameters(model: torch.nn.Module) -> list[torch.nn.Parameter]:
    """Returns what ``model.parameters()`` does, in its order."""
    found: dict[int, torch.nn.Parameter] = {}
    for module in modules_of(model):
        for parameter in module._parameters.values():
            if parameter is not None:
                found.setdefault(id(parameter), parameter)
    return list(found.values())
