"""Batch statistics of a model, kept equal on all members."""

from __future__ import annotations

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
                buffer.copy_(self._before[name])

    @torch.no_grad()
    def average(self, group: Group) -> bool:
        """Averages over the members; whether all values are finite.

        Raises:
            BrokenGroupError: if the exchange failed.
        """
        if group.size == 1 or not self._floating:
            return True
        buffers = dict(self._model.named_buffers())
        moves = []
        for name in self._floating:
            now, before = buffers[name], self._before[name]
            moves.append(torch.where(now == before, torch.zeros_like(now), now - before))
        flat = torch.cat([move.reshape(-1).float() for move in moves]).cpu()
        group.sum(flat)
        flat /= group.size
        at = 0
        for name, move in zip(self._floating, moves, strict=True):
            mean = flat[at : at + move.numel()].view_as(move).to(move)
            at += move.numel()
            buffers[name].copy_(self._before[name] + mean)
        return bool(torch.isfinite(flat).all())
