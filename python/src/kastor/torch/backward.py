"""Reducer of gradients at the end of each backward pass, for scripts with several optimizers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch
from torch.utils.hooks import RemovableHandle

from kastor.errors import UsageError
from kastor.torch.group import BrokenGroupError, Group, Kind, Rows
from kastor.torch.reducer import Bucket, grouped, squared_norm


class BackwardReducer:
    """Reducer that averages over the members what each backward pass adds to the gradients.

    The losses of several optimizers are computed one after the other, often by several backward passes each, and some
    of them reach parameters of the others, as the loss of a generator does those of its discriminator. So nothing is
    assumed of what a pass reaches: at its end, ``grad`` of each parameter that it reached is what it was before and
    the mean over the members of what the pass added. Gradients stay until the script clears them. What an optimizer's
    parameters got since is asked for after :meth:`select`. One thread uses it.
    """

    def __init__(self, of: Sequence[Sequence[torch.nn.Parameter]]) -> None:
        """Takes the parameters of each optimizer.

        Raises:
            UsageError: if none of an optimizer's parameters is trained.
        """
        for number, parameters in enumerate(of):
            if not parameters:
                raise UsageError(f"Optimizer {number} has no parameters. Leave it out.")
        self._buckets = [[Bucket(group) for group in grouped(parameters)] for parameters in of]
        self._place = {
            id(p): (number, bucket, view)
            for number, buckets in enumerate(self._buckets)
            for bucket in buckets
            for p, view in zip(bucket.parameters, bucket.views, strict=True)
        }
        # What this replica alone added to each gradient: the noise is estimated from its norm.
        self._own = {id(p): torch.zeros_like(p) for parameters in of for p in parameters}
        self._hooks = [self._hooked(p) for parameters in of for p in parameters]
        self._cuda = of[0][0].device if of[0][0].device.type == "cuda" else None
        self._before: dict[int, tuple[torch.nn.Parameter, torch.Tensor | None]] = {}
        self._reached: set[int] = set()
        self._mean_squared = [0.0] * len(of)
        self._kept: list[list[torch.Tensor]] = [[] for _ in of]
        self._group: Group | None = None
        self._in_turn = False
        self._selected = 0
        self.last = True
        self.keep = False
        self.error: BrokenGroupError | None = None
        self.on_pass: Callable[[], None] = lambda: None
        self.on_wait: Callable[[bool], None] = lambda waits: None
        self.computed_at = self.waited = self.waited_before = 0.0

    @property
    def parameters(self) -> list[torch.nn.Parameter]:
        """Parameters of all optimizers."""
        return [p for buckets in self._buckets for bucket in buckets for p in bucket.parameters]

    def begin(self, group: Group | None) -> None:
        """Begins a turn, in which backward passes are averaged over the members of a group."""
        self._group, self.error = group, None
        self._reached, self._in_turn = set(), True
        self.waited = self.waited_before = 0.0
        self._before.clear()

    def end(self) -> None:
        """Ends the turn: gradients that come about outside of turns are the script's own."""
        self._in_turn = False

    def select(self, optimizer: int) -> None:
        """Chooses the optimizer that is asked about, by its place."""
        self._selected = optimizer

    def clear(self, optimizer: int) -> None:
        """Forgets what this replica added to the gradients of an optimizer, which the script has cleared."""
        for bucket in self._buckets[optimizer]:
            for p in bucket.parameters:
                self._own[id(p)].zero_()

    @property
    def done(self) -> bool:
        """Whether a backward pass of this turn reached any parameter."""
        return bool(self._reached)

    def has_reached(self, optimizer: int) -> bool:
        """Whether a backward pass of this turn reached parameters of an optimizer."""
        return optimizer in self._reached

    def send_row(self, group: Group, kind: Kind, values: Sequence[float]) -> Rows:
        """Sends a row to all members.

        Raises:
            BrokenGroupError: if the group is closed.
        """
        return group.send_row(kind, values)

    def squared_norms(self) -> float:
        """Squared norm of what this replica added to the gradients of the chosen optimizer."""
        own = [self._own[id(p)] for p in self._there()]
        return float(squared_norm(own)) if own else 0.0

    def squared_norm(self) -> float:
        """Squared norm of the gradients of the chosen optimizer, before the script clips or unscales them."""
        return self._mean_squared[self._selected]

    @property
    def kept(self) -> list[torch.Tensor]:
        """Copies of the gradients of the chosen optimizer, of a replica that trains alone, where ``keep`` is set."""
        return self._kept[self._selected]

    def renew(self) -> None:
        """Takes new memory, as exchanges that were given up may still write into the old."""
        for buckets in self._buckets:
            for bucket in buckets:
                bucket.renew()
                for p, view in zip(bucket.parameters, bucket.views, strict=True):
                    self._place[id(p)] = (self._place[id(p)][0], bucket, view)

    def drop(self) -> None:
        """Drops all gradients."""
        for p in self.parameters:
            p.grad = None

    def close(self) -> None:
        """Removes the hooks."""
        for hook in self._hooks:
            hook.remove()

    def _hooked(self, parameter: torch.nn.Parameter) -> RemovableHandle:
        # One that is frozen now takes no hook, and may be trained later.
        trained = parameter.requires_grad
        parameter.requires_grad_(True)
        handle: RemovableHandle = parameter.register_hook(lambda _: self._arrives(parameter))
        parameter.requires_grad_(trained)
        return handle

    def _there(self) -> list[torch.nn.Parameter]:
        return [p for bucket in self._buckets[self._selected] for p in bucket.parameters if p.grad is not None]

    def _arrives(self, parameter: torch.nn.Parameter) -> None:
        """Sets a gradient apart before this pass is added to it."""
        if not self._in_turn:
            return
        if not self._before:
            torch.autograd.Variable._execution_engine.queue_callback(self._end)
        if id(parameter) in self._before:
            raise UsageError(
                "A parameter got two gradients in one backward pass, which happens with gradient checkpointing. Use"
                " use_reentrant=False there."
            )
        self._before[id(parameter)] = (parameter, parameter.grad)
        parameter.grad = None

    @torch.no_grad()
    def _end(self) -> None:
        if self._cuda is not None:
            torch.cuda.synchronize(self._cuda)
        self.on_pass()
        self.computed_at, self.waited_before = time.perf_counter(), self.waited
        # torch.autograd.grad() calls hooks as well, and adds nothing; nor does a gradient that is not defined.
        for key, (parameter, before) in list(self._before.items()):
            if parameter.grad is None:
                parameter.grad = before
                del self._before[key]
        reached = sorted({self._place[each][0] for each in self._before})
        alone = self._group is None or self._group.size == 1
        for parameter, before in self._before.values() if not alone else ():
            own, grad = self._own[id(parameter)], parameter.grad
            assert grad is not None
            if before is None:
                own.copy_(grad)
            else:
                own.add_(grad)
        self.on_wait(True)
        try:
            for number in reached if self.error is None else []:
                self._average(number, reached)
        except BrokenGroupError as e:
            self.error = e
        finally:
            self.on_wait(False)
        for parameter, before in self._before.values():
            if before is not None and parameter.grad is not None:
                parameter.grad = before + parameter.grad
        self._before.clear()
        for number in reached:
            self._selected = number
            there = [p.grad for p in self._there() if p.grad is not None]
            self._mean_squared[number] = float(squared_norm(there)) if there else 0.0
            self._kept[number] = []
            if alone and self.keep:
                chosen = [p for bucket in self._buckets[number] for p in bucket.parameters]
                self._kept[number] = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in chosen]
        self._reached.update(reached)
        self.waited += time.perf_counter() - self.computed_at

    def _average(self, number: int, reached: list[int]) -> None:
        """Averages what a pass added for an optimizer over the members."""
        group = self._group
        if group is None or group.size == 1:
            return
        mask = float(sum(1 << each for each in reached))
        if any(row != [number, mask] for row in group.rows(Kind.BACKWARD, [number, mask])):
            raise UsageError(
                "A backward pass reached parameters of other optimizers on this replica than on another one. Which"
                " losses are computed must not depend on the replica."
            )
        pending = []
        for bucket in self._buckets[number]:
            bucket.flat.zero_()
            for place, (p, view) in enumerate(zip(bucket.parameters, bucket.views, strict=True)):
                if id(p) in self._before and p.grad is not None:
                    torch.mul(p.grad, 1.0 / group.size, out=view)
                    bucket.used[place] = 1
            pending.append(group.sum_async(bucket.flat))
        for bucket, each in zip(self._buckets[number], pending, strict=True):
            if each is not None:
                each.wait()
            for p, view, count in zip(bucket.parameters, bucket.views, bucket.used.tolist(), strict=True):
                if count > 0:
                    # A parameter that only others reached has the gradient from before, which this pass adds to.
                    if self._before.setdefault(id(p), (p, p.grad))[1] is None and p.grad is None:
                        self._own[id(p)].zero_()
                    p.grad = view.clone()
