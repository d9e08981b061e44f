"""Reducer of gradients over passes and members."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from kastor.errors import UsageError
from kastor.torch.group import BrokenGroupError, Group, Kind, Pending, Rows

_BUCKET_BYTES = 25_000_000
# A single-precision norm of a million values was off by 1e-4.
_NORM_VALUES = 65_536
NOT_MEASURED = -1.0
"""Value in place of the squared norm of a gradient that was not measured."""


class Bucket:
    """Parameters of one type and device whose gradients are exchanged as one flat tensor.

    Behind the gradients there is one number a parameter, above 0 where any member has a gradient for
    it: a parameter that no member used keeps no gradient, so that the optimizer leaves it alone. Behind these, in the
    last bucket, is room for rows that go along.
    """

    def __init__(self, parameters: list[torch.nn.Parameter]) -> None:
        self.parameters = parameters
        self.size = sum(p.numel() for p in parameters)
        self.missing = self.room = 0
        self.renew()

    def renew(self) -> None:
        """Takes new memory."""
        first = self.parameters[0]
        values = self.size + len(self.parameters)
        self.flat = torch.zeros(values + self.room, dtype=first.dtype, device=first.device)
        self.views: list[torch.Tensor] = []
        at = 0
        for p in self.parameters:
            self.views.append(self.flat[at : at + p.numel()].view_as(p))
            at += p.numel()
        self.gradients, self.used = self.flat[: self.size], self.flat[self.size : values]


class Reducer:
    """Reducer that sums gradients over passes, and over members while the last backward runs.

    Each parameter has a hook. When all gradients of a bucket are there, their squared norm is taken
    (per tensor, summed in double precision), they are added to the bucket, and in the last pass the bucket is summed
    over the members. The last bucket waits for the row of the step that ``on_computed`` may send, and goes with it
    where the group can do that. At the end of that backward ``grad`` of each parameter is its mean over passes and
    members; after the passes before it is what that pass gave. One thread uses it.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], bucket_bytes: int = _BUCKET_BYTES) -> None:
        self._bucket_bytes = bucket_bytes
        self._hooks: list[RemovableHandle] = []
        self.adopt(parameters)
        self._group: Group | None = None
        self._seen: set[int] = set()
        self._pending: list[Pending] = []
        self._unsent: Bucket | None = None
        self._squared: list[torch.Tensor] = []
        self._mean_squared: list[torch.Tensor] = []
        self._keep = False
        self._measures = True
        self._checked: list[torch.Tensor] = []
        self.kept: list[torch.Tensor] = []
        self._next = 0
        self._first = self._last = True
        self._passes = 1
        self._in_pass = self._began = False
        self.done = False
        self.error: BrokenGroupError | None = None
        self.on_pass: Callable[[], None] = lambda: None
        self.on_computed: Callable[[], None] = lambda: None
        self.computed_at = 0.0

    def adopt(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Takes the parameters to reduce from now on; between two steps.

        Raises:
            UsageError: if none of them is trained.
        """
        trained = [p for p in parameters if p.requires_grad]
        if not trained:
            raise UsageError(
                "The model has no parameter to train: requires_grad is False for all. Set it for those to train."
            )
        self.close()
        # Gradients come about in the reverse of the order in which parameters are declared.
        self._buckets = [Bucket(group) for group in grouped(reversed(trained), self._bucket_bytes)]
        # By id: a tensor's hash takes longer.
        self._of = {id(p): bucket for bucket in self._buckets for p in bucket.parameters}
        self._hooks = [_hooked(p, self._ready) for p in trained]
        self._cuda = trained[0].device if trained[0].device.type == "cuda" else None

    @property
    def _size(self) -> int:
        return self._group.size if self._group is not None else 1

    @property
    def parameters(self) -> list[torch.nn.Parameter]:
        """Parameters that are reduced."""
        return [p for bucket in self._buckets for p in bucket.parameters]

    @property
    def last(self) -> bool:
        """Whether the pass is the last of its step."""
        return self._last

    def begin(
        self,
        group: Group | None,
        pass_number: int,
        passes: int,
        measures: bool = True,
        keep: bool = False,
    ) -> None:
        """Begins a pass: gradients of an earlier one are gone.

        Args:
            group: whose members sum their gradients in the last pass.
            pass_number: from 0 on.
            passes: of the step.
            measures: whether the squared norms are asked for at the step's end; the same for all its passes.
            keep: whether ``kept`` is asked for at its end.
        """
        self._group, self._passes, self._keep, self._measures = group, passes, keep, measures
        self._first, self._last = pass_number == 0, pass_number == passes - 1
        if self._first:
            self._squared, self._mean_squared, self.kept, self.error = [], [], [], None
            self._checked = []
            self._make_room(group.row_room if group is not None else 0)
        for bucket in self._buckets:
            bucket.missing = len(bucket.parameters)
            for p in bucket.parameters:
                p.grad = None
        self._seen.clear()
        self._pending, self._unsent = [], None
        self._next = 0
        self._in_pass, self._began, self.done = True, False, False

    def end(self) -> None:
        """Ends the last pass: gradients that come about outside of passes are the script's own."""
        self._in_pass = False

    def renew(self) -> None:
        """Takes new memory, as exchanges that were given up may still write into the old."""
        for bucket in self._buckets:
            bucket.renew()

    def send_row(self, group: Group, kind: Kind, values: Sequence[float]) -> Rows:
        """Sends a row to the members of the group of this pass, in one message with the last gradients if these wait.

        Raises:
            BrokenGroupError: if the group is closed, or broke while gradients were sent.
        """
        if self.error is not None:
            raise self.error
        bucket, self._unsent = self._unsent, None
        if bucket is None:
            return group.send_row(kind, values)
        rows = group.send_row(kind, values, bucket.flat)
        if rows.pending is not None:
            self._pending.append(rows.pending)
        return rows

    def squared_norms(self) -> float:
        """Sum over this replica's passes of the squared norm of the pass's gradient; not finite where one is not.

        Of a step that is not measured, :data:`NOT_MEASURED`, or NaN where this replica's gradient is not finite: the
        mean is finite where those of all replicas are.
        """
        if self._measures:
            return _total(self._squared)
        return NOT_MEASURED if all(math.isfinite(each) for each in self._checked) else math.nan

    def squared_norm(self) -> float:
        """Squared norm of the mean gradient over passes and members, before the script clips or unscales it."""
        return _total(self._mean_squared)

    def drop(self) -> None:
        """Drops all gradients."""
        for p in self.parameters:
            p.grad = None

    def close(self) -> None:
        """Removes the hooks."""
        for hook in self._hooks:
            hook.remove()

    def _ready(self, parameter: torch.Tensor) -> None:
        if not self._in_pass:
            return
        key = id(parameter)
        if self.done or key in self._seen:
            raise UsageError(
                "A second backward pass ran on one batch. Add the losses and call backward() once for each"
                " batch; with gradient checkpointing, use use_reentrant=False."
            )
        if not self._began:
            self._began = True
            torch.autograd.Variable._execution_engine.queue_callback(self.end_pass)
        self._seen.add(key)
        self._of[key].missing -= 1
        # In order, so that all members sum their buckets in the same order.
        while self._next < len(self._buckets) and self._buckets[self._next].missing == 0:
            self._flush(self._buckets[self._next])
            self._next += 1

    @torch.no_grad()
    def _flush(self, bucket: Bucket) -> None:
        given = [p.grad for p in bucket.parameters]
        there = [(view, grad) for view, grad in zip(bucket.views, given, strict=True) if grad is not None]
        if self._first and len(there) < len(given):
            bucket.gradients.zero_()
        if there:
            gradients = [grad for _, grad in there]
            if self._measures:
                self._squared.append(squared_norm(gradients))
            self._add([view for view, _ in there], gradients)
        if len(there) == len(given):
            bucket.used.fill_(1)
        else:
            used = torch.tensor([float(grad is not None) for grad in given], dtype=bucket.flat.dtype)
            used = used.to(bucket.flat.device)
            bucket.used.copy_(used if self._first else bucket.used.maximum(used))
        if not self._last:
            # The script may read what this pass gave, as for a log; the next one begins without it.
            return
        if not self._measures:
            # Here, as what was written just now is read faster than what came from others.
            self._checked.append(bucket.gradients.sum(dtype=torch.promote_types(bucket.flat.dtype, torch.float32)))
        for p in bucket.parameters:
            p.grad = None
        if bucket.room:
            self._unsent = bucket
        else:
            self._send(bucket)

    def _make_room(self, room: int) -> None:
        last = self._buckets[-1]
        if last.room != room:
            last.room = room
            last.renew()

    def _send(self, bucket: Bucket) -> None:
        if self._group is not None and self.error is None:
            try:
                pending = self._group.sum_async(bucket.flat)
                if pending is not None:
                    self._pending.append(pending)
            except BrokenGroupError as e:
                self.error = e

    def _add(self, views: list[torch.Tensor], gradients: list[torch.Tensor]) -> None:
        """Adds a pass's share of the mean over passes and members."""
        share = 1.0 / (self._passes * self._size)
        if not self._first:
            torch._foreach_add_(views, gradients, alpha=share)
        elif share == 1.0:
            torch._foreach_copy_(views, gradients)
        else:
            for view, gradient in zip(views, gradients, strict=True):
                torch.mul(gradient, share, out=view)

    @torch.no_grad()
    def end_pass(self) -> None:
        """Ends a pass: sums what gradients there are over the members, if it is the last one of its step.

        A backward pass that reaches any of the parameters calls it.
        """
        for bucket in self._buckets[self._next :]:
            self._flush(bucket)
        if self._last and self._cuda is not None:
            torch.cuda.synchronize(self._cuda)
        self.on_pass()
        self.computed_at = time.perf_counter()
        self.done = True
        self.on_computed()
        if not self._last:
            return
        unsent, self._unsent = self._unsent, None
        if unsent is not None:
            self._send(unsent)
        pending = iter(self._pending)
        for bucket in self._buckets:
            try:
                # None where there are no others, and fewer than buckets where the group broke while they were sent.
                if self.error is None and (each := next(pending, None)) is not None:
                    each.wait()
            except BrokenGroupError as e:
                self.error = e
            # While the sums of the next buckets are under way.
            self._finish(bucket)
        self._pending = []

    def _finish(self, bucket: Bucket) -> None:
        """Hands the mean gradient out."""
        if self._measures:
            # Not by dot(), whose result depends on the number of threads: replicas have the same to the bit.
            self._mean_squared.append(squared_norm(list(bucket.gradients.split(_NORM_VALUES))))
        if self._keep:
            self.kept.append(bucket.gradients.clone())
        for p, view, count in zip(bucket.parameters, bucket.views, bucket.used.tolist(), strict=True):
            p.grad = view if count > 0 else None


def _hooked(parameter: Any, hook: Callable[[torch.Tensor], None]) -> RemovableHandle:
    handle: RemovableHandle = parameter.register_post_accumulate_grad_hook(hook)
    return handle


def grouped(
    parameters: Iterable[torch.nn.Parameter], bucket_bytes: int = _BUCKET_BYTES
) -> Iterable[list[torch.nn.Parameter]]:
    """Groups of parameters of one type and device, of so many bytes each at most or of one parameter."""
    group: list[torch.nn.Parameter] = []
    size = 0
    for p in parameters:
        other = group and (p.dtype != group[0].dtype or p.device != group[0].device)
        if group and (other or size + p.numel() * p.element_size() > bucket_bytes):
            yield group
            group, size = [], 0
        group.append(p)
        size += p.numel() * p.element_size()
    yield group


def _total(squares: list[torch.Tensor]) -> float:
    return float(torch.stack(squares).sum()) if squares else 0.0


@torch.no_grad()
def squared_distance(now: list[torch.Tensor], before: list[torch.Tensor]) -> float:
    """Squared distance of two gradients."""
    return float(squared_norm(list(torch._foreach_sub(now, before))))


def squared_norm(tensors: list[torch.Tensor]) -> torch.Tensor:
    """Squared norm of tensors together, summed in double precision."""
    norms: list[torch.Tensor] = list(torch._foreach_norm(tensors))
    if any(norm.dtype != norms[0].dtype for norm in norms):
        norms = [norm.double() for norm in norms]
    return torch.stack(norms).double().square().sum()
