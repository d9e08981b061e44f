"""Scalars that a script logs, such as a loss or an accuracy: their names, means and a file of them."""

from __future__ import annotations

import errno
import json
import logging
import math
import os
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

from kastor.errors import UsageError

log = logging.getLogger("kastor")

MOST_SCALARS = 64
"""Most names in one report, and most that the operator keeps of a job."""

LOSS = "loss"
"""Name of the training loss, which is a field of its own in reports."""

OWN_PREFIX = "kastor/"
"""Prefix of the names of Kastor's own series."""

FILE_NAME = "metrics.jsonl"

_NAME = re.compile(r"[A-Za-z0-9._/-]{1,64}")


def check_name(name: str) -> None:
    """Checks the name of a scalar.

    Raises:
        UsageError: if the operator would refuse it.
    """
    if not _NAME.fullmatch(name) or name.startswith(OWN_PREFIX):
        raise UsageError(
            f"log() was given the name {name!r}. Names have 1 to 64 characters of A-Z, a-z, 0-9 and . _ / - and do not"
            f" begin with {OWN_PREFIX}, as Kastor's own do."
        )


class ScalarMeans:
    """Means of scalars by name, bounded: of more than 64 names those that came first stay."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[float, int]] = {}

    def add(self, values: Mapping[str, float]) -> list[str]:
        """Counts finite values; the names for which there is no space."""
        return [name for name, value in values.items() if math.isfinite(value) and not self._put(name, value, 1)]

    def add_all(self, other: ScalarMeans) -> None:
        """Counts all that another one has."""
        for name, (total, count) in other._sums.items():
            self._put(name, total, count)

    def _put(self, name: str, total: float, count: int) -> bool:
        if name not in self._sums and len(self._sums) >= MOST_SCALARS:
            return False
        before, number = self._sums.get(name, (0.0, 0))
        self._sums[name] = (before + total, number + count)
        return True

    def means(self) -> dict[str, float]:
        """Means by name; empty where nothing was counted."""
        found = {name: total / count for name, (total, count) in self._sums.items()}
        return {name: mean for name, mean in found.items() if math.isfinite(mean)}


class ScalarFile:
    """File of JSON lines: every finite value that is logged, as ``kastor metrics -o json`` writes them.

    It is opened at the first value, so that a folder that replicas share has the file of the one that writes. What
    cannot be written, as on a full disk, is said once: a training does not end for it.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Makes the folder.

        Raises:
            OSError: if it cannot be made.
        """
        self._path = Path(folder) / FILE_NAME
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._handle = -1
        self._failed = False

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Adds values of a step."""
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        lines = [
            json.dumps({"time": now, "step": step, "name": name, "value": value}) + "\n"
            for name, value in values.items()
            if math.isfinite(value)
        ]
        if self._failed or not lines:
            return
        try:
            self._append("".join(lines).encode())
        except OSError as e:
            self._failed = True
            log.warning("scalars are no longer written to %s: %s", self._path, e)

    def _append(self, lines: bytes) -> None:
        if self._handle < 0:
            # To the end, whichever replica wrote before.
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        written = os.write(self._handle, lines)
        if written < len(lines):
            os.ftruncate(self._handle, os.fstat(self._handle).st_size - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
