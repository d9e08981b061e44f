"""Evidence of which examples were trained at which positions, in the form that Kastor's agents share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

UInt64s = NDArray[np.uint64]

_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
GAMMA = np.uint64(_GAMMA)
_MASK = (1 << 64) - 1
_FEW = 48
"""Pairs up to which Python's own numbers are faster than calls of NumPy."""


def mix(values: UInt64s) -> UInt64s:
    """Mixes of 64-bit values, shape as given: each output bit depends on every input bit.

    Finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, section 4, variant 13 of Stafford).
    """
    z = (values ^ (values >> np.uint64(30))) * np.uint64(_FIRST)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_SECOND)
    return z ^ (z >> np.uint64(31))


def _mix(z: int) -> int:
    """Mix of one value, as of :func:`mix`."""
    z = (z ^ (z >> 30)) * _FIRST & _MASK
    z = (z ^ (z >> 27)) * _SECOND & _MASK
    return z ^ (z >> 31)


@dataclass(frozen=True)
class AuditDigest:
    """Digest of (position, example) pairs that does not depend on their order.

    Each pair is mixed to 64 bits and the mixes are summed modulo 2^64: the sum is exact, takes any
    grouping over replicas and passes, and changes with near certainty when a pair is lost, repeated
    or replaced.
    """

    count: int = 0
    sum: int = 0

    @staticmethod
    def of(first_position: int, examples: NDArray[Any]) -> AuditDigest:
        """Digest of examples ``[n]`` at the positions from ``first_position`` on."""
        if len(examples) <= _FEW:
            total = 0
            for position, example in enumerate(examples.tolist(), first_position):
                total += _mix(_mix(position + _GAMMA & _MASK) + (example + 1) * _GAMMA & _MASK)
            return AuditDigest(len(examples), total & _MASK)
        positions = np.arange(first_position, first_position + len(examples), dtype=np.uint64)
        pairs = mix(mix(positions + GAMMA) + (examples.astype(np.uint64) + np.uint64(1)) * GAMMA)
        return AuditDigest(len(examples), int(np.add.reduce(pairs, dtype=np.uint64)))

    def __add__(self, other: AuditDigest) -> AuditDigest:
        return AuditDigest(self.count + other.count, (self.sum + other.sum) & _MASK)

    def lost_or_repeated(self, expected: AuditDigest) -> int:
        """Number of examples lost or repeated; 0 where the evidence agrees with ``expected``.

        Where the counts agree and the sums do not, at least one example was lost and one repeated,
        which counts as 2.
        """
        difference = abs(self.count - expected.count)
        return 2 if difference == 0 and self.sum != expected.sum else difference
