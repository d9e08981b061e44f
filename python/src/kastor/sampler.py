"""Order of examples that does not depend on the number of replicas, and each replica's share of a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kastor.audit import GAMMA, AuditDigest, mix
from kastor.protocol import BatchPlan

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Take:
    """Examples ``[n]`` of one pass and the position of the first in the endless sequence."""

    first_position: int
    examples: Int64s


class ElasticSampler:
    """Endless sequence of epochs, each a permutation that depends on (seed, epoch) alone.

    An epoch is the stable order of ``mix(key(seed, epoch) + i * gamma)``: plain arithmetic, so that
    no version of a library changes it. A step covers positions ``[cursor, cursor + M)``; replica r,
    pass p take the b positions from ``cursor + b (r passes + p)``. Without ``shuffle`` each epoch is
    0, 1, 2, ...

    One thread uses an instance. A new epoch costs a sort: about 0.15 s for a million examples.
    """

    def __init__(self, examples: int, seed: int = 0, shuffle: bool = True) -> None:
        if examples < 1:
            raise ValueError(f"A data set needs at least 1 example but has {examples}.")
        self.examples = examples
        self._seed = seed
        self._shuffle = shuffle
        self._cache: dict[int, Int64s] = {}

    def take(self, cursor: int, plan: BatchPlan, replicas: int, rank: int, pass_number: int) -> Take:
        """Examples of one pass of one replica; ``cursor`` counts the positions of earlier steps."""
        if cursor < 0 or not 0 <= rank < replicas:
            raise ValueError(f"cursor {cursor}, rank {rank} of {replicas} replicas")
        if not 0 <= pass_number < plan.passes:
            raise ValueError(f"pass {pass_number} of {plan.passes}")
        size = plan.atomic_batch_size
        first = cursor + size * (rank * plan.passes + pass_number)
        return Take(first, self._between(first, first + size))

    def expected(self, cursor: int) -> AuditDigest:
        """Digest that the audit must read once every position below ``cursor`` was trained once."""
        digest = AuditDigest()
        for first in range(0, cursor, self.examples):
            end = min(first + self.examples, cursor)
            digest += AuditDigest.of(first, self._between(first, end))
        return digest

    def epoch(self, cursor: int) -> int:
        """Number of full passes over the data that a cursor stands for."""
        return cursor // self.examples

    def _between(self, first: int, end: int) -> Int64s:
        parts = []
        while first < end:
            epoch, start = divmod(first, self.examples)
            stop = min(self.examples, start + end - first)
            parts.append(self._permutation(epoch)[start:stop])
            first += stop - start
        return np.concatenate(parts)

    def _permutation(self, epoch: int) -> Int64s:
        if not self._shuffle:
            return np.arange(self.examples, dtype=np.int64)
        known = self._cache.get(epoch)
        if known is not None:
            return known
        with np.errstate(over="ignore"):
            number = np.array([epoch], dtype=np.uint64)
            seed = np.array([self._seed & (2**64 - 1)], dtype=np.uint64)
            key = mix(seed ^ mix(number + GAMMA))
            keys = mix(key + np.arange(self.examples, dtype=np.uint64) * GAMMA)
        order: Int64s = np.argsort(keys, kind="stable").astype(np.int64)
        # A step across the border of two epochs needs both.
        while len(self._cache) > 1:
            self._cache.pop(min(self._cache))
        self._cache[epoch] = order
        return order
