"""Start of a replica, as far as it alone can measure it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

_MOST_MILLIS = 99_999_999


class Source(Enum):
    """Source of the state with which a replica began."""

    INITIAL = "INITIAL"
    CHECKPOINT = "CHECKPOINT"
    PEERS = "PEERS"


@dataclass(frozen=True)
class ReplicaStart:
    """Last parts of a replica's start: getting its state, and its first step from the join to its end."""

    source: Source
    state_seconds: float
    first_step_seconds: float

    def to_text(self) -> str:
        """Parameter of a poll, as the operator demands it."""
        seconds = (self.state_seconds, self.first_step_seconds)
        millis = (min(_MOST_MILLIS, max(0, int(1000 * s))) for s in seconds)
        return ",".join((self.source.value, *map(str, millis)))
