"""Agreement of the members of a new generation on one state."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from kastor.errors import UsageError
from kastor.protocol import Cause, Switch
from kastor.starting import ReplicaStart, Source
from kastor.torch.group import BrokenGroupError, Group, Kind
from kastor.torch.state import TrainingState

log = logging.getLogger("kastor")

DIFFERENT = (
    "Replicas train different parameters. Freeze, unfreeze and replace parts of the model, and add groups to the"
    " optimizer, on all replicas at the same step: by job.step or job.epoch, never by job.rank."
)
"""Message where a script has different replicas train different parameters."""

_MOST_ROUNDS = 6
_NONE = -1
_FROM_START = 0


class History:
    """History of this replica, as far as the next change of members needs it.

    ``lineage`` is the last generation in which it agreed with all members, 0 for a state of its own
    making, -1 without a state.
    """

    def __init__(self) -> None:
        self.lineage = _NONE
        self.replicas = 0
        self.broken = False
        self._since = self._agreed = time.perf_counter()
        self._source, self._state_seconds = Source.INITIAL, 0.0

    @property
    def has_state(self) -> bool:
        """Whether this replica holds a state, be it the initial one."""
        return self.lineage != _NONE

    def called(self) -> None:
        """Notes that this replica shall join; before its first step, the pause begins here."""
        if self.replicas == 0:
            self._since = time.perf_counter()

    def began(self, source: Source, seconds: float) -> None:
        """Notes that the first state of this replica is there, and how long it took."""
        self._source, self._state_seconds = source, seconds

    def agreed(self, generation: int) -> None:
        """Notes that all members of a generation hold the same state."""
        self.lineage, self._agreed = generation, time.perf_counter()

    def stepped(self, replicas: int) -> ReplicaStart | None:
        """Notes an applied step; after the first one, how the start of this replica ended."""
        first = self.replicas == 0
        self.replicas, self.broken, self._since = replicas, False, time.perf_counter()
        return ReplicaStart(self._source, self._state_seconds, self._since - self._agreed) if first else None

    @property
    def pause(self) -> float:
        """Seconds since the last step."""
        return time.perf_counter() - self._since


def agree(group: Group, state: TrainingState, history: History, start: Callable[[], Source]) -> Switch:
    """Brings all members to the same state, to the bit, and returns the change to report.

    The members compare what they have. The best state is of the youngest lineage, as an older one may
    have been redone differently since, then of the highest step, then of the lowest rank; who has it
    sends it to those that have another or none. Where nobody has any, rank 0 makes one by ``start``.
    They compare again until all are the same.

    Members that agreed before and have applied the same steps since are the same without a comparison
    of their bits, which reads the whole state: it is for those whose history differs, for a step that
    broke, for parameters that were replaced, and for states that were sent.

    Raises:
        BrokenGroupError: if the group broke; the next try may work.
        UsageError: if members train different parameters.
    """
    by_bits = False
    for _ in range(_MOST_ROUNDS):
        digest = state.digest() if by_bits and history.has_state and group.size > 1 else 0
        place = state.counters.place if history.has_state else -1
        rows = group.rows(
            Kind.JOIN,
            [
                *(history.lineage, place, digest >> 32, digest & 0xFFFFFFFF),
                *(history.replicas, float(history.broken), history.pause),
                *state.look(),
            ],
        )
        gathered = time.perf_counter()
        best = max(range(group.size), key=lambda rank: (rows[rank][0], rows[rank][1], -rank))
        if rows[best][0] == _NONE:
            if group.rank == 0:
                source = start()
                history.lineage = _FROM_START
                history.began(source, time.perf_counter() - gathered)
            continue
        if not by_bits and _in_doubt(rows):
            by_bits = True
            continue
        same = [row[0] != _NONE and row[1:4] == rows[best][1:4] for row in rows]
        if all(same):
            if len({row[7] for row in rows}) > 1:
                raise UsageError(DIFFERENT)
            history.agreed(group.generation)
            return _change(group, rows, gathered)
        donors = [rank for rank in range(group.size) if same[rank]]
        receivers = [rank for rank in range(group.size) if not same[rank]]
        for number, receiver in enumerate(receivers):
            donor = donors[number % len(donors)]
            if group.rank == donor:
                size = state.send(group, receiver)
                log.info("sent the state of step %d, %.1f MB, to rank %d", place, size / 1e6, receiver)
            elif group.rank == receiver:
                # While its parts are taken over it is no state at all.
                history.lineage = _NONE
                state.receive(group, donor)
                history.lineage = _FROM_START
                history.began(Source.PEERS, time.perf_counter() - gathered)
                log.info("received the state of step %d from rank %d", state.counters.step, donor)
        by_bits = True
    raise BrokenGroupError(f"members still differ after {_MOST_ROUNDS} rounds")


def _in_doubt(rows: list[list[float]]) -> bool:
    """Whether those that have a state may have different ones."""
    there = [row for row in rows if row[0] != _NONE]
    return len({(row[0], row[1]) for row in there}) > 1 or any(row[5] or row[8] for row in there)


def _change(group: Group, rows: list[list[float]], gathered: float) -> Switch:
    before = int(max(row[4] for row in rows))
    broken = any(row[4] > 0 and row[5] for row in rows)
    pause = max(row[6] for row in rows if before == 0 or row[4] > 0)
    cause = Cause.START if before == 0 else Cause.FAILURE if broken else Cause.RESCALE
    return Switch(group.generation, before, group.size, cause, pause + time.perf_counter() - gathered)
