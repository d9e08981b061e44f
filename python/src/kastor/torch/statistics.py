"""Batch statistics of a model, kept equal on all members."""

from __future__ import annotations

from collections.abc import Callable

import torch

from kastor.torch.group import Group
from kastor.torch.trained import modules_of


class BatchStatistics:
    """Buffers that forward passes change, as the running means of BatchNorm.

    At the end of a step each floating buffer moves by the mean over the members of what it moved on
    each of them: for running means that equals the mean of the batch statistics, and a buffer that
    nothing changes keeps its bits. What changed in a step that is not applied is undone.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model
        self._before: list[torch.Tensor] = []
        self._held: list[torch.Tensor] = []
        self._floating: list[int] = []

    def remember(self) -> None:
        """Notes the buffers at the start of a step."""
        buffers = self._buffers()
        if _fit(buffers, self._before):
            for before, buffer in zip(self._before, buffers, strict=True):
                before.copy_(buffer)
        else:
            self._before = _copies(buffers)
            self._floating = [at for at, b in enumerate(buffers) if b.is_floating_point() and b.numel()]

    def undo(self) -> None:
        """Puts the buffers back to the start of the step."""
        self._write_all(self._before)

    def hold(self) -> None:
        """Notes the buffers as they are, which all members have."""
        self._held = _copies(self._buffers())

    def put_back(self) -> None:
        """Puts the buffers back to what was noted last."""
        self._write_all(self._held)

    def _buffers(self) -> list[torch.Tensor]:
        """Buffers in the order of the model's layers, in which one of another layer takes the place of one before."""
        buffers: list[torch.Tensor] = []
        for module in modules_of(self._model):
            if module._buffers:
                buffers += [buffer.detach() for buffer in module._buffers.values() if buffer is not None]
        return buffers

    def _write_all(self, values: list[torch.Tensor]) -> None:
        buffers = self._buffers()
        if _fit(buffers, values):
            for buffer, value in zip(buffers, values, strict=True):
                _write(buffer, value)

    def average(self, group: Group) -> Callable[[], bool]:
        """Starts to average over the members. Called, the result applies the mean; whether all values are finite.

        Raises:
            BrokenGroupError: if the exchange failed; so does the result.
        """
        if group.size == 1 or not self._floating:
            return lambda: True
        return self._send(group)

    @torch.no_grad()
    def _send(self, group: Group) -> Callable[[], bool]:
        buffers = self._buffers()
        if not _fit(buffers, self._before):
            # The script has replaced layers: the others get what they expect, and nothing moves here.
            buffers = _copies(self._before)
        befores, nows = ([of[at] for at in self._floating] for of in (self._before, buffers))
        moves = [
            torch.where(now == before, torch.zeros_like(now), now - before)
            for before, now in zip(befores, nows, strict=True)
        ]
        flat = torch.cat([move.reshape(-1).float() for move in moves]).cpu()
        pending = group.sum(flat)

        @torch.no_grad()
        def apply() -> bool:
            pending.wait()
            flat.div_(group.size)
            parts = flat.split([move.numel() for move in moves])
            for now, before, move, part in zip(nows, befores, moves, parts, strict=True):
                _write(now, before + part.view_as(move).to(move))
            return bool(torch.isfinite(flat).all())

        return apply


def _copies(buffers: list[torch.Tensor]) -> list[torch.Tensor]:
    return [buffer.clone() for buffer in buffers]


def _fit(buffers: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    """Whether both have the same shapes and types."""
    return len(buffers) == len(others) and all(
        a.shape == b.shape and a.dtype == b.dtype and a.device == b.device for a, b in zip(buffers, others, strict=True)
    )


def _write(buffer: torch.Tensor, value: torch.Tensor) -> None:
    """Writes a buffer without a new version of it.

    With several optimizers a backward pass may come after, through layers that keep their buffers for it, and PyTorch
    refuses one whose version is another. Where a layer changes buffers, its backward pass takes copies, or what it
    computed of the batch alone, as BatchNorm and spectral normalisation do.
    """
    buffer.data.copy_(value)
