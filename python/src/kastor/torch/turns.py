"""Turns of a loader for frameworks, which want to know after a batch whether it was the last one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kastor.torch.loader import ElasticLoader

_END, _NOT_ASKED = object(), object()


class Turns:
    """Turns of one loop over a loader after the other; a framework asks after a batch whether the loop has ended.

    How many passes an epoch takes is known at its end alone. ``len`` says how many steps it has at the initial batch.
    """

    def __init__(self, loader: ElasticLoader) -> None:
        self._loader = loader
        self._turns: Iterator[Any] = iter(())
        self._next: Any = _NOT_ASKED
        self.dataset, self.batch_size = loader.dataset, loader.batch_size

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[Any]:
        self._turns, self._next = iter(self._loader), _NOT_ASKED
        while True:
            batch = next(self._turns, _END) if self._next is _NOT_ASKED else self._next
            self._next = _NOT_ASKED
            if batch is _END:
                return
            yield batch

    def ended(self) -> bool:
        """Whether the batch before was the last one; what follows then is after the loop, and no part of the turn."""
        self._next = next(self._turns, _END)
        return self._next is _END
