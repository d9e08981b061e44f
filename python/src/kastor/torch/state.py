"""State of a training: the script's registered objects and Kastor's counters, as bytes that replicas share."""

from __future__ import annotations

import json
import math
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import torch

from kastor.audit import AuditDigest
from kastor.checkpoint import Block, Checkpoint
from kastor.errors import CheckpointError, UsageError
from kastor.noise import JointNoise
from kastor.torch.group import BrokenGroupError, Group
from kastor.torch.trained import FixedGroups, Trained
from kastor.tree import TreeError, flatten, places, unflatten

_SMALL_BYTES = 256 * 1024
_COLUMNS = 1024
_MAX_FORM = 1 << 30
# In a step; a power of two, so that no fraction is rounded.
_MOST_UPDATES = 1 << 16


class Stateful(Protocol):
    """Object whose ``state_dict`` is part of the training."""

    def state_dict(self) -> Any:
        """State as plain values and tensors."""

    def load_state_dict(self, state_dict: Any) -> Any:
        """Takes over a state."""


class OptionalPart:
    """Part of the state that a checkpoint may lack, as one of an older version does: the part stays as it was made."""


@dataclass
class Counters:
    """Counters of a training.

    ``cursor`` counts positions of the endless sequence of examples, ``schedules`` how far each schedule of
    a learning rate, ``epoch`` the pass over the loader in which the members are, ``applied`` the updates of several
    optimizers that the step in progress has brought, ``skipped`` scale-invariant steps of epochs that the script left,
    ``best`` the best value of metrics by name.
    """

    step: int = 0
    scale_invariant_steps: float = 0.0
    cursor: int = 0
    audit_count: int = 0
    audit_sum: int = 0
    epoch: int = 0
    applied: int = 0
    schedules: list[float] = field(default_factory=list)
    skipped: float = 0.0
    best: dict[str, float] = field(default_factory=dict)

    @property
    def place(self) -> float:
        """Place in the training: steps, and as a fraction the updates of the step in progress."""
        return self.step + self.applied / _MOST_UPDATES

    @property
    def done(self) -> float:
        """Scale-invariant steps of the declared work that need not be taken any more."""
        return self.scale_invariant_steps + self.skipped

    def due_of(self, schedule: int) -> float:
        """Scale-invariant steps that a schedule has gone, by its place."""
        return self.schedules[schedule] if schedule < len(self.schedules) else 0.0

    def go_on(self, schedule: int, due: float) -> int:
        """Lets a schedule go on to where it is due, and returns how many whole steps it passes."""
        self.schedules += [0.0] * (schedule + 1 - len(self.schedules))
        before, self.schedules[schedule] = self.schedules[schedule], due
        return math.floor(due) - math.floor(before)

    def is_best(self, name: str, value: float, least: bool) -> bool:
        """Notes the value of a metric; whether it is better than all before. One that is not a number never is."""
        before = self.best.get(name, math.inf if least else -math.inf)
        better = value < before if least else value > before
        if better:
            self.best[name] = value
        return better

    @staticmethod
    def of(state: dict[str, Any]) -> Counters:
        """Counters as a checkpoint has them. Older ones count the steps of one schedule."""
        values = dict(state)
        if "scheduled" in values:
            values["schedules"] = [float(values.pop("scheduled"))]
        return Counters(**values)

    @property
    def audit(self) -> AuditDigest:
        """Digest of the examples trained so far."""
        return AuditDigest(self.audit_count, self.audit_sum)

    def trained(self, more: AuditDigest) -> None:
        """Counts more examples."""
        total = self.audit + more
        self.audit_count, self.audit_sum = total.count, total.sum


@dataclass
class TrainingState:
    """State of a training. ``parts`` are the registered objects by name. The training's thread owns it."""

    parts: Mapping[str, Stateful]
    noise: JointNoise
    counters: Counters = field(default_factory=Counters)
    trained: Trained | FixedGroups | None = None

    def look(self) -> tuple[int, bool]:
        """Looks at what is trained now: its signature, and whether it has changed; 0 and False without ``trained``."""
        if self.trained is None:
            return 0, False
        self.trained.look()
        return self.trained.signature, self.trained.changed

    def captured(self) -> tuple[Any, list[torch.Tensor]]:
        """JSON form and tensors of the state; the tensors are live.

        Raises:
            UsageError: naming what can neither be sent nor saved.
        """
        tree: dict[str, Any] = {
            "parts": {name: part.state_dict() for name, part in self.parts.items()},
            "noise": self.noise.state(),
            "counters": asdict(self.counters),
        }
        if self.trained is not None:
            tree["trained"] = self.trained.state()
        try:
            form, tensors = flatten(tree, torch.Tensor)
        except TreeError as e:
            raise UsageError(str(e)) from e
        return form, [tensor.detach() for tensor in tensors]

    def checkpoint(self) -> Checkpoint:
        """Copy of the state in host memory."""
        form, tensors = self.captured()
        blocks = [Block(_dtype_name(t.dtype), tuple(t.shape), _bytes(t.clone().cpu()).numpy().data) for t in tensors]
        return Checkpoint(self.counters.step, form, blocks)

    def restore_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Takes over the state of a checkpoint.

        Raises:
            CheckpointError: if it does not fit the registered objects.
        """
        try:
            self.restore(checkpoint.form, _tensors(checkpoint))
        except (UsageError, TreeError) as e:
            raise CheckpointError(
                f"The checkpoint of step {checkpoint.step} does not fit this script: {e} Go back to the script that"
                " wrote it, or remove the checkpoints of the job to start anew."
            ) from e

    def begin_with(self, checkpoint: Checkpoint) -> None:
        """Takes over the model of another job's checkpoint; all else stays as the script made it.

        Raises:
            CheckpointError: if it does not fit the registered model.
        """
        try:
            parts = unflatten(checkpoint.form, _tensors(checkpoint))["parts"]
            if not parts.keys() >= {"model"}:
                raise UsageError("it holds no model.")
            _load("model", self.parts["model"], parts["model"])
        except (UsageError, TreeError) as e:
            raise CheckpointError(f"the one of step {checkpoint.step} does not fit this script: {e}") from e

    def restore(self, form: Any, tensors: list[torch.Tensor]) -> None:
        """Takes over a state.

        Raises:
            UsageError: if it is of other objects than those registered.
        """
        tree = unflatten(form, tensors)
        parts = tree["parts"]
        known = {name for name, part in self.parts.items() if name in parts or not isinstance(part, OptionalPart)}
        if parts.keys() != known:
            raise UsageError(f"it holds {sorted(parts)}, but prepare() was given {sorted(self.parts)}.")
        # Before the parts: an optimizer takes over the state of groups that it has alone. Older checkpoints lack it.
        if self.trained is not None and "trained" in tree:
            self.trained.restore(tree["trained"])
        for name in known:
            _load(name, self.parts[name], parts[name])
        self.noise.restore(tree["noise"])
        self.counters = Counters.of(tree["counters"])

    def digest(self) -> int:
        """Digest of 64 bits by which replicas find out whether their states have the same bits."""
        form, tensors = self.captured()
        low, high = zlib.crc32(json.dumps(form).encode()), 0
        for tensor in tensors:
            low = zlib.crc32(_fold(tensor), low)
            high = zlib.crc32(str(low).encode(), high)
        return (high << 32) | low

    def prints(self) -> dict[str, int]:
        """Prints of 32 bits of all that the state has, by place: equal where the bits are."""
        form, tensors = self.captured()
        leaves, values = places(form)
        # Numbers first: a rate of its own makes parameters differ, not the other way round.
        found = {place: zlib.crc32(json.dumps(value).encode()) for place, value in values.items()}
        found |= {place: zlib.crc32(_fold(tensor)) for place, tensor in zip(leaves, tensors, strict=True)}
        return {place.removeprefix("parts."): each for place, each in found.items()}

    def send(self, group: Group, to: int) -> int:
        """Sends the state to a member and returns how many bytes of tensors it has."""
        form, tensors = self.captured()
        table = [[_dtype_name(t.dtype), list(t.shape)] for t in tensors]
        text = json.dumps([form, table]).encode()
        packed = [_bytes(t.cpu()) for t in tensors if t.numel()]

        def messages() -> Iterator[torch.Tensor]:
            yield torch.tensor([len(text)], dtype=torch.int64)
            yield torch.frombuffer(bytearray(text), dtype=torch.uint8)
            small = [p for p in packed if p.numel() < _SMALL_BYTES]
            if small:
                yield torch.cat(small)
            yield from (p for p in packed if p.numel() >= _SMALL_BYTES)

        group.send(messages(), to)
        return sum(p.numel() for p in packed)

    def receive(self, group: Group, source: int) -> None:
        """Takes over the state that a member sends."""
        length = int(group.receive(torch.zeros(1, dtype=torch.int64), source))
        if not 0 < length < _MAX_FORM:
            raise BrokenGroupError(f"a state with a form of {length} bytes")
        text = group.receive(torch.empty(length, dtype=torch.uint8), source).numpy().tobytes()
        form, table = json.loads(text)
        tensors = [torch.empty(shape, dtype=_dtype(dtype)) for dtype, shape in table]
        packed = [_bytes(t) for t in tensors if t.numel()]
        small = [p for p in packed if p.numel() < _SMALL_BYTES]
        if small:
            flat = group.receive(torch.empty(sum(p.numel() for p in small), dtype=torch.uint8), source)
            for target, part in zip(small, torch.split(flat, [p.numel() for p in small]), strict=True):
                target.copy_(part)
        for target in packed:
            if target.numel() >= _SMALL_BYTES:
                group.receive(target, source)
        self.restore(form, tensors)


def _load(name: str, part: Stateful, state: Any) -> None:
    if isinstance(part, torch.nn.Module):
        # A module's state_dict carries the versions of its layers beside the values.
        state = OrderedDict(state)
        setattr(state, "_metadata", getattr(part.state_dict(), "_metadata", None))  # noqa: B010
    try:
        part.load_state_dict(state)
    except (RuntimeError, ValueError, KeyError, TypeError) as e:
        reason = " ".join(str(e).split())[:500]
        raise UsageError(f"'{name}' cannot take it over: {reason}") from e


def _tensors(checkpoint: Checkpoint) -> list[torch.Tensor]:
    tensors = []
    for block in checkpoint.blocks:
        tensor = torch.empty(block.shape, dtype=_dtype(block.dtype))
        if tensor.numel():
            _bytes(tensor).copy_(torch.frombuffer(bytearray(block.data), dtype=torch.uint8))
        tensors.append(tensor)
    return tensors


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    """Bytes ``[n]`` of a tensor in host memory; of a contiguous one without a copy."""
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def _dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _dtype(name: str) -> torch.dtype:
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise UsageError(f"there is no type of tensors '{name}' in this version of PyTorch.")
    return found


_WORDS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@torch.no_grad()
def _fold(tensor: torch.Tensor) -> bytes:
    """Sums of a tensor's words in 1024 columns: read once, on its device, where copies would cost more."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    words = tensor.contiguous().reshape(-1).view(_WORDS[tensor.element_size()])
    whole = words.numel() // _COLUMNS * _COLUMNS
    parts = [words[whole:].to(torch.int64)]
    if whole:
        parts.append(words[:whole].view(-1, _COLUMNS).sum(0, dtype=torch.int64))
    return torch.cat(parts).cpu().numpy().tobytes()
