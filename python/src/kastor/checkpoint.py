"""Folder of checkpoints that is safe against a kill at any instant.

A file holds a header in JSON and the bytes of the tensors, each with a CRC-32 (that of ``zlib``; the
standard library has no other that is fast). Nothing in it is code. A checkpoint is written under a
unique temporary name, fsynced and renamed, and the folder is fsynced, so that ``step-N.kpt`` stands for
whole files only; what a failing disk does to them later is found by the checksums.
"""

from __future__ import annotations

import json
import logging
import os
import re
import struct
import time
import uuid
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kastor.errors import CheckpointError
from kastor.protocol import CheckpointInfo

log = logging.getLogger("kastor")

_MAGIC = b"KASTORP1"
_NAME = re.compile(r"step-([0-9]{1,18})\.kpt")
_TEMPORARY = ".tmp"
_ABANDONED_SECONDS = 600.0
_MAX_HEADER = 256 * 1024 * 1024


@dataclass(frozen=True)
class Block:
    """Tensor in a checkpoint: the name of its type, its shape, and its bytes in memory order."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | memoryview


@dataclass(frozen=True)
class Checkpoint:
    """State at a step: ``form`` is any JSON value, ``blocks`` the tensors that it speaks of."""

    step: int
    form: Any
    blocks: Sequence[Block]


class CheckpointFolder:
    """Folder of one job's checkpoints.

    Several processes may use one folder at once: temporary names are unique, and a file that another
    process removes in between counts as absent. One thread at a time uses an instance.
    """

    def __init__(self, folder: Path, job_uid: str, keep_last: int) -> None:
        """Opens a folder, creating it where it is missing; files of another job are skipped."""
        if keep_last < 1:
            raise ValueError(f"keep_last must be at least 1 but is {keep_last}.")
        self._folder, self._uid, self._keep = folder, job_uid, keep_last
        self._verified: set[int] = set()
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, checkpoint: Checkpoint) -> CheckpointInfo:
        """Makes a state durable under its step, then removes what is no longer kept.

        Raises:
            OSError: if it cannot be written; the checkpoints before it are then as they were.
        """
        step = checkpoint.step
        temporary = self._folder / f"step-{step}.{uuid.uuid4().hex}{_TEMPORARY}"
        try:
            size = _write(temporary, self._uid, checkpoint)
            os.replace(temporary, self._file(step))
        finally:
            temporary.unlink(missing_ok=True)
        _sync(self._folder)
        self._verified.add(step)
        self._retain(step)
        return CheckpointInfo(step, size, int(time.time() * 1000))

    def steps(self) -> list[int]:
        """Steps for which a file exists, newest first; whether it is whole is not looked at."""
        matches = (_NAME.fullmatch(name) for name in os.listdir(self._folder))
        return sorted((int(m.group(1)) for m in matches if m), reverse=True)

    def load(self, step: int) -> Checkpoint:
        """Checkpoint of one step.

        Raises:
            FileNotFoundError: if there is none.
            CheckpointError: if it is damaged or of another job; the message names it.
        """
        file = self._file(step)
        try:
            found = _read(file, self._uid)
            if found.step != step:
                raise CheckpointError(f"it holds step {found.step}")
        except CheckpointError as e:
            self._verified.discard(step)
            raise CheckpointError(f"Checkpoint {file} is unusable: {e}.") from e
        self._verified.add(step)
        return found

    def newest(self) -> Checkpoint | None:
        """Newest checkpoint that is whole and of this job; each newer one that is not is logged.

        Raises:
            OSError: if the folder cannot be listed or a file not be read.
        """
        seen: list[int] = []
        # A busy writer can retire every listed file before it is read; newer ones then exist.
        while (steps := self.steps()) != seen:
            seen = steps
            for step in steps:
                try:
                    return self.load(step)
                except FileNotFoundError:
                    log.debug("the checkpoint of step %d is gone", step)
                except CheckpointError as e:
                    log.warning("skips a checkpoint: %s", e)
        return None

    def _file(self, step: int) -> Path:
        return self._folder / f"step-{step}.kpt"

    def _retain(self, saved: int) -> None:
        """Keeps the newest valid files up to the step just saved.

        A damaged one never displaces a good one. Those of later steps stay: they may be another
        process's. Those of another job stay as well: they are not ours to remove.
        """
        kept = 0
        for step in self.steps():
            if step > saved:
                continue
            if kept < self._keep and self._valid(step):
                kept += 1
            elif not self._foreign(step):
                self._file(step).unlink(missing_ok=True)
                self._verified.discard(step)
        for name in os.listdir(self._folder):
            if name.startswith("step-") and name.endswith(_TEMPORARY):
                self._remove_abandoned(self._folder / name)

    def _valid(self, step: int) -> bool:
        if step in self._verified:
            return True
        try:
            self.load(step)
            return True
        except FileNotFoundError:
            return False
        except CheckpointError as e:
            log.warning("does not count a checkpoint: %s", e)
            return False

    def _foreign(self, step: int) -> bool:
        try:
            with self._file(step).open("rb") as file:
                return _header(file, self._file(step)).get("job") != self._uid
        except (OSError, CheckpointError):
            return False

    @staticmethod
    def _remove_abandoned(file: Path) -> None:
        try:
            if time.time() - file.stat().st_mtime > _ABANDONED_SECONDS:
                file.unlink()
        except FileNotFoundError:
            pass  # its owner has renamed or removed it


def _write(path: Path, uid: str, checkpoint: Checkpoint) -> int:
    table = []
    offset = 0
    for block in checkpoint.blocks:
        data = memoryview(block.data).cast("B")
        table.append([block.dtype, list(block.shape), offset, len(data), zlib.crc32(data)])
        offset += len(data)
    header = json.dumps(
        {"job": uid, "step": checkpoint.step, "form": checkpoint.form, "table": table},
        allow_nan=False,
        separators=(",", ":"),
    ).encode()
    with path.open("xb") as file:
        file.write(_MAGIC + struct.pack("<QI", len(header), zlib.crc32(header)) + header)
        for block in checkpoint.blocks:
            file.write(block.data)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def _header(file: Any, path: Path) -> dict[str, Any]:
    start = file.read(len(_MAGIC) + 12)
    if len(start) < len(_MAGIC) + 12 or start[: len(_MAGIC)] != _MAGIC:
        raise CheckpointError("it is not a checkpoint")
    length, code = struct.unpack("<QI", start[len(_MAGIC) :])
    if length > min(_MAX_HEADER, path.stat().st_size):
        raise CheckpointError("its header is damaged")
    text = file.read(length)
    if len(text) != length or zlib.crc32(text) != code:
        raise CheckpointError("its header is damaged")
    found = json.loads(text)
    if not isinstance(found, dict):
        raise CheckpointError("its header is damaged")
    return found


def _read(path: Path, uid: str) -> Checkpoint:
    with path.open("rb") as file:
        header = _header(file, path)
        if header.get("job") != uid:
            raise CheckpointError(
                f"it is of another job ({header.get('job')}), not of {uid}; give each job a folder of its own"
            )
        blocks = []
        for dtype, shape, _, length, code in header["table"]:
            data = file.read(length)
            if len(data) != length:
                raise CheckpointError("it is cut short")
            if zlib.crc32(data) != code:
                raise CheckpointError("a tensor is damaged")
            blocks.append(Block(dtype, tuple(shape), data))
        if file.read(1):
            raise CheckpointError("it is longer than its header says")
        return Checkpoint(header["step"], header["form"], blocks)


def _sync(folder: Path) -> None:
    """Makes a rename durable; POSIX leaves that to an fsync of the folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
