"""Data that can only be read from its beginning on, in shards of known lengths."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any

import numpy as np
from torch.utils.data import Dataset

from kastor.errors import UsageError
from kastor.sampler import InSequence, Int64s, Order, order_of

_END = object()
_MOST_OPEN = 8
"""Shards that a process keeps open: those of a step, and of the steps that workers fetch ahead."""


class Stream(Dataset[Any]):
    """Data set of shards that are read from their beginning on, such as files, or the parts of an ``IterableDataset``.

    Example i of shard s is number ``lengths[0] + ... + lengths[s - 1] + i``, so each is trained on once whatever the
    number of replicas. A replica passes over what the others train on: an iterator with a method ``skip(n)`` is asked
    to pass over n examples at once. Where it has to go back, as after a step that broke, it opens the shard anew.

    Args:
        shard: called with the number of a shard; what it returns gives the shard's examples, the same ones in the same
            order each time.
        lengths: examples of each shard.

    Raises:
        UsageError: if there is no shard, or one has no examples.
    """

    def __init__(self, shard: Callable[[int], Iterable[Any]], lengths: Sequence[int]) -> None:
        self.lengths = [int(length) for length in lengths]
        if not self.lengths or min(self.lengths) < 1:
            raise UsageError(f"A stream needs shards of 1 example or more, not of {self.lengths}.")
        self._shard = shard
        self._ends = list(accumulate(self.lengths))
        self._open: dict[int, tuple[Iterator[Any], int]] = {}
        self._process = os.getpid()

    def __len__(self) -> int:
        """Examples of all shards."""
        return self._ends[-1]

    def __getitem__(self, example: int) -> Any:
        """Example by its number.

        Raises:
            UsageError: if the shard has another length than was said.
        """
        if self._process != os.getpid():
            # A worker that was forked: it must not read on in what its parent has open.
            self._open, self._process = {}, os.getpid()
        shard = bisect_right(self._ends, example)
        place = example - (self._ends[shard] - self.lengths[shard])
        examples, at = self._open.pop(shard, (None, 0))
        if examples is None or at > place:
            examples, at = iter(self._shard(shard)), 0
        found = _next(examples, place - at)
        if found is _END:
            raise UsageError(f"Shard {shard} ended before its {self.lengths[shard]} examples. Give its true length.")
        if place + 1 < self.lengths[shard]:
            self._open[shard] = (examples, place + 1)
            while len(self._open) > _MOST_OPEN:
                self._open.pop(next(iter(self._open)))
        elif _next(examples, 0) is not _END:
            raise UsageError(
                f"Shard {shard} has more than its {self.lengths[shard]} examples, which would never be trained on. Give"
                " its true length."
            )
        return found

    def __getstate__(self) -> dict[str, Any]:
        """State for a worker process, which opens shards of its own."""
        return {**self.__dict__, "_open": {}}

    def order(self, seed: int, shuffle: bool) -> Order:
        """Order of an epoch: the shards one after the other, shuffled or not."""
        return _ByShards(self.lengths, order_of(len(self.lengths), seed) if shuffle else InSequence(len(self.lengths)))


class _ByShards:
    """Order of whole shards, one after the other."""

    def __init__(self, lengths: Sequence[int], shards: Order) -> None:
        self.examples = sum(lengths)
        self._lengths, self._shards = np.array(lengths, dtype=np.int64), shards
        self._firsts = np.cumsum(self._lengths) - self._lengths
        self._epoch = -1

    def between(self, epoch: int, start: int, stop: int) -> Int64s:
        """Examples at these places of an epoch."""
        if epoch != self._epoch:
            self._epoch, self._order = epoch, self._shards.between(epoch, 0, len(self._lengths))
            self._ends = np.cumsum(self._lengths[self._order])
        places = np.arange(start, stop, dtype=np.int64)
        turns = np.searchsorted(self._ends, places, side="right")
        shards = self._order[turns]
        found: Int64s = self._firsts[shards] + places - (self._ends[turns] - self._lengths[shards])
        return found


def _next(examples: Iterator[Any], passed: int) -> Any:
    """Next example after so many; ``_END`` where there is none."""
    skip = getattr(examples, "skip", None)
    if passed and skip is not None:
        skip(passed)
        passed = 0
    return next(islice(examples, passed, None), _END)
