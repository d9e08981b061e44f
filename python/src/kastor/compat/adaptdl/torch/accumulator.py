"""Sums over the replicas, by the name of ``adaptdl.torch.accumulator``."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any

import torch

from kastor.compat.adaptdl.torch.script import script
from kastor.torch.job import Job


class Accumulator(MutableMapping[str, float]):
    """Mapping of names to numbers, which each replica adds to, and which :meth:`synchronized` sums over the replicas.

    In the training loop each batch that is trained on is added once: not in a rehearsal, and not again where its step
    is taken again. What a replica added is lost with it where it leaves before the next ``synchronized``, the number
    of its examples as well, so that means stay means.

    Args:
        args: first values, as of ``dict``, the same on all replicas.
        kwargs: as of ``dict``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._sums: dict[str, float] = dict(*args, **kwargs)
        self._added: dict[str, float] = {}
        self._synchronized = False

    @contextmanager
    def synchronized(self) -> Iterator[Accumulator]:
        """Context in which the values are sums over the replicas, and all that was added before.

        All replicas must enter it at the same place; a name that only some of them added to counts as 0 on the others.
        """
        if not self._synchronized:
            job = script.job
            names = _names_of_all(job, self._all())
            # A replica that joined has no sums from before: those of rank 0 count.
            before = job.of_rank0({name: self._sums.get(name, 0.0) for name in names})
            self._sums = {name: before[name] + job.sum(self._added.get(name, 0.0)) for name in names}
            self._added = {}
        nested, self._synchronized = self._synchronized, True
        try:
            yield self
        finally:
            self._synchronized = nested

    def update(self, *args: Any, **kwargs: float) -> None:
        """Adds to the values by their names."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = self.get(key, 0.0) + value

    def subtract(self, *args: Any, **kwargs: float) -> None:
        """Subtracts from the values by their names."""
        self.update({key: -value for key, value in dict(*args, **kwargs).items()})

    def __iadd__(self, other: Mapping[str, float]) -> Accumulator:
        self.update(other)
        return self

    def __isub__(self, other: Mapping[str, float]) -> Accumulator:
        self.subtract(other)
        return self

    def _all(self) -> set[str]:
        return self._sums.keys() | self._added.keys()

    def _values(self) -> dict[str, float]:
        return self._sums if self._synchronized else self._added

    def __getitem__(self, key: str) -> float:
        return self._sums[key] if self._synchronized else self._added.get(key, 0.0)

    def __setitem__(self, key: str, value: float) -> None:
        script.updates(self._values(), key)
        self._values()[key] = float(value)

    def __delitem__(self, key: str) -> None:
        script.updates(self._values(), key)
        del self._values()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    def __repr__(self) -> str:
        return repr(self._values())


def _names_of_all(job: Job, own: Collection[str]) -> list[str]:
    """Names that any replica has, sorted."""
    own_text = bytearray(json.dumps(sorted(own)).encode() + b"\n")
    texts = job.gather(torch.frombuffer(own_text, dtype=torch.uint8)).numpy().tobytes()
    return sorted({name for text in texts.splitlines() for name in json.loads(text)})
