"""Comparison of the states of replicas while they train: whatever makes them differ is found and named."""

from __future__ import annotations

import time
import zlib
from enum import Enum

import torch

from kastor.torch.group import Group, Kind
from kastor.torch.state import TrainingState

# Of the time of training.
_SHARE = 1 / 200
_SHORTEST_SECONDS = 1.0
# Where states differ again and again, something in the script makes them so.
_MOST_REPAIRS = 4
_MOST_NAMES = 5


class Drift(Enum):
    """Drift of replicas: what is done where their states differ."""

    REPAIR = "repair"
    FAIL = "fail"
    CHECK = "check"
    """As FAIL, with a comparison after each step."""


class Comparison:
    """Comparison of the members' states after a step, at a cost of at most 0.5 % of the time.

    Rank 0 says in the exchange of a step that it is due. Each member then takes the digest of its state after that step
    and sends it with the next exchange, so that a comparison needs no message of its own. One thread uses it.
    """

    def __init__(self, drift: Drift) -> None:
        self.drift = drift
        self._last = -float("inf")
        self._seconds = 0.0
        self._digest = 0
        self._repairs = 0

    def due(self, now: float, saves: bool) -> bool:
        """Whether rank 0 asks for a comparison in this step; it does for a state that is about to be saved.

        Args:
            now: seconds of a clock that never goes back.
            saves: whether the state after this step is to be saved.
        """
        if self.drift is Drift.CHECK:
            return True
        if not saves and now - self._last < max(_SHORTEST_SECONDS, self._seconds / _SHARE):
            return False
        self._last = now
        return True

    def take(self, state: TrainingState) -> None:
        """Takes the digest of the state after a step."""
        began = time.perf_counter()
        # 0 stands for none.
        self._digest = state.digest() or 1
        self._seconds = time.perf_counter() - began

    def sent(self) -> list[float]:
        """Digest for the next exchange, high and low half; 0 without one."""
        digest, self._digest = self._digest, 0
        return [digest >> 32, digest & 0xFFFFFFFF]

    def differ(self, rows: list[list[float]]) -> bool:
        """Whether members had different states, by what they sent."""
        found = {tuple(row) for row in rows if any(row)}
        if len(found) == 1:
            self._repairs = 0
        return len(found) > 1

    def repairs(self) -> bool:
        """Whether the members are to take the state of one of them; else the job ends."""
        self._repairs += 1
        return self.drift is Drift.REPAIR and self._repairs <= _MOST_REPAIRS


def differences(group: Group, state: TrainingState) -> str:
    """Names what differs between the members, of which all must ask.

    Raises:
        BrokenGroupError: if the group broke.
    """
    prints = state.prints()
    names = list(prints)
    places = [len(names), zlib.crc32("\n".join(names).encode())]
    rows = group.rows(Kind.PRINTS, places)
    if any(row != rows[0] for row in rows):
        return "what their states consist of"
    table = torch.zeros(group.size, len(names), dtype=torch.float64)
    table[group.rank] = torch.tensor(list(prints.values()), dtype=torch.float64)
    group.sum(table).wait()
    wrong = [name for name, column in zip(names, table.T, strict=True) if column.unique().numel() > 1]
    more = f" and {len(wrong) - _MOST_NAMES} more" if len(wrong) > _MOST_NAMES else ""
    return ", ".join(wrong[:_MOST_NAMES]) + more
