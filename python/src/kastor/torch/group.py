"""Group of the members of one generation: what they exchange, and how its failure is noticed.

The members find each other through a store that proves the job's secret. gloo's own connections neither
prove anything nor encrypt: the network between the replicas of a job must keep others out.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from datetime import timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import torch
import torch.distributed as dist

from kastor.protocol import Membership
from kastor.store import StoreClient, StoreError

Result = TypeVar("Result")

if TYPE_CHECKING:
    from torch._C._distributed_c10d import PrefixStore, Store
else:
    PrefixStore, Store = dist.PrefixStore, dist.Store

# The methods of c10d's backends have no types.
Backend = Any

# As long as the operator is patient with one who evaluates; a peer that is dead is noticed by its
# connection, one that hangs by the generation without it that the operator publishes.
_LONGEST_WAIT = timedelta(minutes=60)
_LOOK_SECONDS = 1.0
_NO_ANSWER = "a member does not answer and a newer generation is known"
_ROW = 16
_ROW_BYTES = 8 * _ROW

# A group that broke may be garbage that is not collected yet. A forked child, such as a worker of a DataLoader, would
# abort where it collects it: it has not the threads that a backend of gloo joins at its end.
os.register_at_fork(after_in_child=gc.freeze)


class BrokenGroupError(Exception):
    """Error of a group that broke; nothing of the step in progress was applied."""


class Kind(IntEnum):
    """Kind of a row: all members must speak of the same."""

    JOIN = 1
    STEP = 2
    SUM = 3
    END = 4
    PRINTS = 5
    BACKWARD = 6
    GATHER = 7


class Pending(Protocol):
    """Exchange under way."""

    def wait(self) -> None:
        """Waits for its end; raises BrokenGroupError if it failed."""


class Rows:
    """Rows of all members, under way; ``pending`` is their exchange, None in a group of one."""

    def __init__(self, kind: Kind, length: int, table: torch.Tensor, pending: Pending | None) -> None:
        """Takes a table ``[members, 16]`` of doubles, or one of their bytes, each of which is a number."""
        self.kind, self._length, self._table, self.pending = kind, length, table, pending

    def wait(self) -> list[list[float]]:
        """Values of each member, in rank order.

        Raises:
            BrokenGroupError: if the exchange failed, or the members do not speak of the same.
        """
        if self.pending is not None:
            self.pending.wait()
        table = self._table
        if table.shape[1] > _ROW:
            table = table.to(torch.uint8).view(torch.float64)
        rows: list[list[float]] = table.tolist()
        if any(row[0] != self.kind for row in rows):
            names = ", ".join(Kind(int(row[0])).name if row[0] in list(Kind) else "?" for row in rows)
            raise BrokenGroupError(f"members are at different places of the script ({names})")
        return [row[1 : self._length + 1] for row in rows]


class Summation(Protocol):
    """Interface by which gradients are summed over the members, in place."""

    def start(self, flat: torch.Tensor) -> Pending:
        """Starts to sum a flat tensor over the members."""

    def close(self) -> None:
        """Gives up what it holds."""


class RendezvousStore(Store):
    """Store of c10d over an authenticated connection; keys have the prefix of one generation."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        super().__init__()
        self._client, self._prefix = client, prefix
        self._seconds = _LONGEST_WAIT.total_seconds()

    def _key(self, key: str) -> str:
        return f"{self._prefix}/{key}"

    def set(self, key: str, value: bytes | str) -> None:
        """Sets a key."""
        self._client.set(self._key(key), value.encode() if isinstance(value, str) else bytes(value))

    def get(self, key: str) -> bytes:
        """Value of a key, once it is set."""
        return self._client.get(self._key(key), self._seconds)

    def add(self, key: str, value: int) -> int:
        """Adds to a number."""
        return self._client.add(self._key(key), value)

    def check(self, keys: list[str]) -> bool:
        """Whether all keys are set."""
        return self._client.check([self._key(key) for key in keys])

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are set."""
        seconds = self._seconds if timeout is None else min(timeout.total_seconds(), self._seconds)
        self._client.wait([self._key(key) for key in keys], seconds)

    def delete_key(self, key: str) -> bool:
        """Removes a key."""
        return self._client.delete(self._key(key))

    def set_timeout(self, timeout: timedelta) -> None:
        """Bounds :meth:`get`."""
        self._seconds = timeout.total_seconds()


class _Work:
    """Work of c10d until it has ended or its group is closed.

    A work that is kept keeps the connections of its group open, and an error that is kept keeps the variables of all
    functions through which it came. So nothing else names the work, no variable either.
    """

    def __init__(self, group: Group, work: dist.Work, kept: object) -> None:
        self._group, self._kept = group, kept
        self._work: dist.Work | None = work
        self._failure: str | None = None

    def wait(self) -> None:
        if self._work is not None:
            self._failure = self._end()
            self._work = None
            self._group.ended(self)
        if self._failure is not None:
            raise BrokenGroupError(self._failure)

    def _end(self) -> str | None:
        """Waits for the end; why it failed."""
        began = time.monotonic()
        while self._work is not None:
            # Asked before the wait: an exchange that ends at the moment at which a turn does has not failed.
            completed = self._work.is_completed()
            try:
                self._work.wait(timedelta(seconds=_LOOK_SECONDS))
                return None
            except RuntimeError as e:
                if completed:
                    return _first_line(e)
                if not self._work.is_completed() and self._group.gives_up(time.monotonic() - began):
                    return _NO_ANSWER
        return self._failure

    def close(self) -> None:
        """Lets go of the work."""
        self._failure = str(self._group.closed_error())
        self._work = None


class _GlooSum:
    """Summation by gloo, in host memory."""

    def __init__(self, group: Group) -> None:
        self._group = group

    def start(self, flat: torch.Tensor) -> Pending:
        return self._group.start(lambda backend: backend.allreduce([flat]), flat)

    def close(self) -> None:
        pass  # the group itself is closed by its owner


class Group:
    """Members of one generation. One thread uses it.

    Control messages go through gloo, which every machine has; gradients through a ``Summation``, and the row of a
    step with them where that is gloo's. A group of one exchanges nothing. ``formed`` is the generation in which the
    members found each other.
    """

    def __init__(
        self,
        membership: Membership,
        rank: int,
        connect: Callable[[str], StoreClient] | None,
        host: str,
        given_up: Callable[[float], bool],
        sums: Callable[[Group, Store], Summation] | None = None,
    ) -> None:
        """Forms the group.

        Args:
            membership: generation whose members come together.
            rank: of this replica.
            connect: connection to the store at an address; None for a group of one.
            host: address at which others reach us.
            given_up: whether to give up an exchange that has taken so many seconds.
            sums: maker of the summation of gradients; gloo without it.

        Raises:
            BrokenGroupError: if the members did not come together; the next try may work.
        """
        self.rank, self.size, self.generation = rank, len(membership.members), membership.generation
        self.formed = membership.generation
        self._places = _places(membership)
        self._given_up = given_up
        self._backend: Backend = None
        self._client: StoreClient | None = None
        self._stuck = False
        self._works: set[_Work] = set()
        self._sums: Summation | None = None
        if self.size == 1 or connect is None:
            return
        try:
            self._client = connect(membership.members[0].address)
            store = RendezvousStore(self._client, f"g{self.generation}")
            self._backend = self._form(PrefixStore("control", store), host)
            self._sums = sums(self, PrefixStore("gradients", store)) if sums else _GlooSum(self)
        except (RuntimeError, StoreError, BrokenGroupError) as e:
            self.close()
            raise BrokenGroupError(f"generation {self.generation} was not formed: {_first_line(e)}") from e

    def serves(self, membership: Membership) -> bool:
        """Whether a generation has the same members in the same order, so that it needs no other connections."""
        return not self._stuck and self._places == _places(membership)

    def _form(self, store: Store, host: str) -> Backend:
        """Backend of the group, once all members have come.

        They may take as long as an evaluation does.
        """
        gloo: Any = dist.ProcessGroupGloo
        options = gloo._Options()
        options._timeout = _LONGEST_WAIT
        options._devices = [gloo.create_device(hostname=host)]
        return self._on_thread(lambda: gloo(store, self.rank, self.size, options))

    def _on_thread(self, blocks: Callable[[], Result]) -> Result:
        """Result of a call that comes back late or never where a member died; it runs on another thread.

        Raises:
            BrokenGroupError: if it was given up.
        """

        def run(ended: Future[Result]) -> None:
            try:
                ended.set_result(blocks())
            except Exception as e:
                # Its frames have the backend, and so its connections.
                ended.set_exception(e.with_traceback(None))

        ended: Future[Result] = Future()
        threading.Thread(target=run, args=(ended,), name="kastor-group", daemon=True).start()
        began = time.monotonic()
        while not wait([ended], _LOOK_SECONDS).done:
            if self._given_up(time.monotonic() - began):
                raise BrokenGroupError(_NO_ANSWER)
        try:
            return ended.result()
        finally:
            del ended

    def start(self, operation: Callable[[Backend], dist.Work], kept: object) -> Pending:
        """Starts an exchange; ``kept`` stays alive until it has ended.

        Raises:
            BrokenGroupError: if it failed, or the group is closed.
        """
        if self._backend is None:
            raise self.closed_error()
        try:
            work = _Work(self, operation(self._backend), kept)
            self._works.add(work)
            return work
        except RuntimeError as e:
            failure = _first_line(e)
        # Without the error of c10d, which has the backend and so keeps its connections open.
        raise BrokenGroupError(failure)

    def gives_up(self, seconds: float) -> bool:
        """Whether to give up an exchange that has taken so many seconds; if so, the group is stuck."""
        self._stuck = self._stuck or self._given_up(seconds)
        return self._stuck

    def ended(self, work: _Work) -> None:
        """Notes that an exchange has ended."""
        self._works.discard(work)

    def sum_async(self, flat: torch.Tensor) -> Pending | None:
        """Starts to sum gradients over the members in place; None in a group of one."""
        if self.size == 1:
            return None
        if self._sums is None:
            raise self.closed_error()
        return self._sums.start(flat)

    def closed_error(self) -> BrokenGroupError:
        """Error of a group that is closed."""
        return BrokenGroupError(f"generation {self.generation} is closed")

    def sum(self, flat: torch.Tensor) -> Pending:
        """Starts to sum a tensor in host memory over the members, in place."""
        return self.start(lambda backend: backend.allreduce([flat]), flat)

    def rows(self, kind: Kind, values: Sequence[float]) -> list[list[float]]:
        """Values of each member, as of :meth:`send_row`."""
        return self.send_row(kind, values).wait()

    @property
    def row_room(self) -> int:
        """Values that a tensor of gradients needs at its end for rows to go along; 0 where they cannot."""
        return self.size * _ROW_BYTES if isinstance(self._sums, _GlooSum) else 0

    def send_row(self, kind: Kind, values: Sequence[float], along: torch.Tensor | None = None) -> Rows:
        """Sends a row to all members, and takes theirs.

        Args:
            kind: of the row; the same on all members.
            values: of the row.
            along: flat tensor of gradients to sum in the same message; the rows overwrite the :attr:`row_room` values
                at its end.

        Raises:
            BrokenGroupError: if the group is closed.
        """
        if len(values) > _ROW - 1:
            raise ValueError(f"a row has at most {_ROW - 1} values but {len(values)} are given")
        own = [float(kind), *values, *([0.0] * (_ROW - 1 - len(values)))]
        # The sum of tables with one row each is the table of all rows: one message less than to gather them.
        if along is None:
            nothing = [0.0] * _ROW
            rows = [own if rank == self.rank else nothing for rank in range(self.size)]
            table = torch.tensor(rows, dtype=torch.float64)
            return Rows(kind, len(values), table, self.sum(table) if self.size > 1 else None)
        if self._sums is None:
            raise self.closed_error()
        # Any type of gradients holds bytes exactly.
        table = along[-self.size * _ROW_BYTES :].view(self.size, _ROW_BYTES).zero_()
        table[self.rank] = torch.tensor(own, dtype=torch.float64).view(torch.uint8)
        return Rows(kind, len(values), table, self.sum_async(along))

    def send(self, tensors: Iterator[torch.Tensor], to: int) -> None:
        """Sends tensors in host memory to a member, which must know their types and shapes.

        Raises:
            BrokenGroupError: if it failed, or was given up.
        """
        for tensor in tensors:
            self._transfer(lambda backend, t=tensor: backend.send([t], to, 0))  # type: ignore[misc]

    def receive(self, tensor: torch.Tensor, source: int) -> torch.Tensor:
        """Receives into a tensor in host memory and returns it.

        Raises:
            BrokenGroupError: if it failed, or was given up.
        """
        self._transfer(lambda backend: backend.recv([tensor], source, 0))
        return tensor

    def _transfer(self, operation: Callable[[Backend], dist.Work]) -> None:
        if self._backend is None:
            raise self.closed_error()
        try:
            # In one wait: gloo closes all connections where a turn ends before a tensor has come.
            self._on_thread(lambda: operation(self._backend).wait())
            return
        except BrokenGroupError:
            self._stuck = True
            raise
        except RuntimeError as e:
            failure = _first_line(e)
        raise BrokenGroupError(failure)

    def given_up(self, seconds: float) -> bool:
        """Whether to give up an exchange that has taken so many seconds."""
        return self._given_up(seconds)

    @property
    def stuck(self) -> bool:
        """Whether exchanges were given up that still write into the tensors given to them."""
        return self._stuck

    def close(self) -> None:
        """Closes all connections, so that a group that broke here fails on the others as well."""
        if self._sums is not None:
            self._sums.close()
        if self._client is not None:
            self._client.close()
        backend, self._backend, self._sums, self._client = self._backend, None, None, None
        for work in self._works:
            work.close()
        self._works.clear()
        if self._stuck and backend is not None:
            # Its end would wait for the exchange that hangs.
            _ABANDONED.append(backend)


_ABANDONED: list[Backend] = []


def _places(membership: Membership) -> list[tuple[str, str]]:
    return [(member.pod, member.address) for member in membership.members]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
