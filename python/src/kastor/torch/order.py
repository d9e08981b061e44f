"""Order of the examples as a script asks for it: shuffled, in sequence, or by a sampler of PyTorch's."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sized
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils.data import DistributedSampler, RandomSampler, SequentialSampler

from kastor.errors import UsageError
from kastor.sampler import Int64s, KeptOrder, Order, epoch_key, order_of
from kastor.torch.stream import Stream

_OF_NUMPY = 1 << 32
# 2 GiB of numbers, two epochs of which are kept.
_MOST_DRAWN = 1 << 28


class DrawnOrder(KeptOrder):
    """Order that a sampler of the script draws for each epoch, from random numbers of (seed, epoch) alone.

    The global generators of PyTorch, Python and NumPy and the sampler's ``generator`` are set to
    these numbers for the draw, and back after it, so that all replicas draw the same, and draw it
    again whenever it is asked for.
    """

    def __init__(self, sampler: Any, dataset: Sized, seed: int) -> None:
        if not hasattr(sampler, "__len__"):
            raise UsageError(
                f"The sampler has no length: {type(sampler).__name__} needs __len__, the examples of an epoch, as"
                " progress is counted in epochs."
            )
        if len(sampler) > _MOST_DRAWN:
            raise UsageError(
                f"The sampler has epochs of {len(sampler)} examples, and an epoch is drawn at once, of at most"
                f" {_MOST_DRAWN}. Lower its num_samples, to the length of the data set for example, and train more"
                " epochs."
            )
        super().__init__(len(sampler))
        self._sampler, self._dataset, self._seed = sampler, dataset, seed
        self._compared = False

    def make(self, epoch: int) -> Int64s:
        """Order of an epoch.

        Raises:
            UsageError: if the sampler draws another one at the second try, another number of examples
                than it has, or what is no index of the data set.
        """
        order = self._draw(epoch)
        name = type(self._sampler).__name__
        if len(order) != self.examples:
            raise UsageError(
                f"The sampler gave {len(order)} examples in epoch {epoch}, and its length is {self.examples}."
                f" {name} must have epochs of one length."
            )
        wrong = order[(order < 0) | (order >= len(self._dataset))]
        if len(wrong):
            raise UsageError(
                f"The sampler gave example {wrong[0]} of a data set of {len(self._dataset)}. {name} must give numbers"
                " from 0 to the length of the data set."
            )
        if not self._compared:
            if not np.array_equal(order, self._draw(epoch)):
                raise UsageError(
                    f"The sampler gives another order each time: {name} draws from a generator of its own, so replicas"
                    " would train on other examples. Let it draw by torch, random or numpy.random, or from its"
                    " attribute generator, a torch.Generator."
                )
            self._compared = True
        return order

    def _draw(self, epoch: int) -> Int64s:
        with _seeded(epoch_key(self._seed, epoch), getattr(self._sampler, "generator", None)):
            if hasattr(self._sampler, "set_epoch"):
                self._sampler.set_epoch(epoch)
            try:
                return np.fromiter((int(index) for index in self._sampler), dtype=np.int64)
            except (TypeError, ValueError) as e:
                raise UsageError(
                    f"The sampler gave what is no number of an example: {e}. For batches of its own, give the sampler"
                    " of single examples that it is made of."
                ) from e


def order_by(sampler: Any, dataset: Sized, shuffle: bool, seed: int) -> Order:
    """Order for a data set; ``shuffle`` counts where there is no sampler.

    A ``DistributedSampler`` stands for the whole data set, of which each replica gets its share as ever.

    Raises:
        UsageError: if another sampler gives one replica's share of an epoch, or there is one for a stream.
    """
    if isinstance(dataset, Stream):
        if sampler is not None:
            raise UsageError("A stream is read from the beginning of its shards on: leave sampler out.")
        return dataset.order(seed, shuffle)
    if sampler is None:
        return order_of(len(dataset), seed, shuffle)
    if type(sampler) is DistributedSampler:
        return order_of(len(dataset), seed, sampler.shuffle)
    if type(sampler) is SequentialSampler:
        return order_of(len(dataset), seed, shuffle=False)
    if type(sampler) is RandomSampler and not sampler.replacement and sampler.num_samples == len(dataset):
        return order_of(len(dataset), seed)
    parts = getattr(sampler, "num_replicas", 1)
    if parts != 1:
        raise UsageError(
            f"The sampler gives one of {parts} shares of an epoch, and the others would never be trained on: give"
            f" {type(sampler).__name__} num_replicas=1 and rank=0. Each replica gets its share of that."
        )
    return DrawnOrder(sampler, dataset, seed)


@contextmanager
def _seeded(key: int, own: torch.Generator | None) -> Iterator[None]:
    """Context in which random numbers come from a key in [0, 2^64), and after which all is as before."""
    python, numpy = random.getstate(), np.random.get_state()
    before = own.get_state() if isinstance(own, torch.Generator) else None
    try:
        with torch.random.fork_rng(devices=[]):
            # Not torch.manual_seed, which sets the generators of GPUs too.
            torch.default_generator.manual_seed(key)
            random.seed(key)
            np.random.seed(key % _OF_NUMPY)
            if isinstance(own, torch.Generator):
                own.manual_seed(key)
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        if isinstance(own, torch.Generator) and before is not None:
            own.set_state(before)
