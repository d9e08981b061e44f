"""Batch statistics of a model, kept equal on all members."""

from __future__ import annotations

from collections.abc import Callable

import torch

from kastor.torch.group import Group


class BatchStatistics:
    """Buffers that forward passes change, as the running means of BatchNorm.

    At the end of a step each floating buffer moves by the mean over the members of what it moved on
    each of them: for running means that equals the mean of the batch statistics, and a buffer that
    nothing changes keeps its bits. What changed in a step that is not applied is undone.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model
        self._before: dict[str, torch.Tensor] = {}
        self._held: dict[str, torch.Tensor] = {}
        self._floating: list[str] = []

    @torch.no_grad()
    def remember(self) -> None:
        """Notes the buffers at the start of a step."""
        buffers = dict(self._model.named_buffers())
        if self._before.keys() == buffers.keys():
            for name, buffer in buffers.items():
                self._before[name].copy_(buffer)
        else:
            self._before = {name: buffer.clone() for name, buffer in buffers.items()}
            self._floating = [name for name, b in buffers.items() if b.is_floating_point() and b.numel()]

    @torch.no_grad()
    def undo(self) -> None:
        """Puts the buffers back to the start of the step."""
        for name, buffer in self._model.named_buffers():
            if name in self._before:
                _write(buffer, self._before[name])

    @torch.no_grad()
    def hold(self) -> None:
        """Notes the buffers as they are, which all members have."""
        self._held = {name: buffer.clone() for name, buffer in self._model.named_buffers()}

    @torch.no_grad()
    def put_back(self) -> None:
        """Puts the buffers back to what was noted last."""
        for name, buffer in self._model.named_buffers():
            if name in self._held:
                _write(buffer, self._held[name])

    @torch.no_grad()
    def average(self, group: Group) -> Callable[[], bool]:
        """Starts to average over the members. Called, the result applies the mean; whether all values are finite.

        Raises:
            BrokenGroupError: if the exchange failed; so does the result.
        """
        if group.size == 1 or not self._floating:
            return lambda: True
        buffers = dict(self._model.named_buffers())
        moves = []
        for name in self._floating:
            now, before = buffers[name], self._before[name]
            moves.append(torch.where(now == before, torch.zeros_like(now), now - before))
        flat = torch.cat([move.reshape(-1).float() for move in moves]).cpu()
        pending = group.sum(flat)

        @torch.no_grad()
        def apply() -> bool:
            pending.wait()
            flat.div_(group.size)
            parts = flat.split([move.numel() for move in moves])
            for name, move, part in zip(self._floating, moves, parts, strict=True):
                _write(buffers[name], self._before[name] + part.view_as(move).to(move))
            return bool(torch.isfinite(flat).all())

        return apply


def _write(buffer: torch.Tensor, value: torch.Tensor) -> None:
    """Writes a buffer without a new version of it.

    With several optimizers a backward pass may come after, through layers that keep their buffers for it, and PyTorch
    refuses one whose version is another. Where a layer changes buffers, its backward pass takes copies, or what it
    computed of the batch alone, as BatchNorm and spectral normalisation do.
    """
    buffer.data.copy_(value)
