"""Folder of checkpoints that is safe against a kill at any instant.

A file holds a header in JSON and the bytes of the tensors, each with a CRC-32 (that of ``zlib``; the
standard library has no other that is fast). Nothing in it is code. A checkpoint is written under a
unique temporary name, fsynced and renamed, and the folder is fsynced, so that ``step-N.kpt`` stands for
whole files only; what a failing disk does to them later is found by the checksums.
"""

from __future__ import annotations

import errno
import json
import logging
import math
import os
import re
import stat
import struct
import time
import uuid
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from kastor.errors import CheckpointError
from kastor.protocol import CheckpointInfo

log = logging.getLogger("kastor")

_MAGIC = b"KASTORP1"
_NAME = re.compile(r"step-([0-9]{1,18})\.kpt")
_TEMPORARY = ".tmp"
_ABANDONED_SECONDS = 600.0
_MAX_HEADER = 256 * 1024 * 1024
_MAX_RANK = 64

_UNUSABLE = frozenset({errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENXIO, errno.ENODEV, errno.ENOTDIR})
"""Errors of the opening of what is no checkpoint of ours; others, as of a disk, may pass."""


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
        try:
            self._retain(step)
        except OSError as e:
            # The state is durable, whatever lies beside it.
            log.warning("checkpoints that are not needed any more could not be removed: %s", e)
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
            OSError: if the folder cannot be listed, or a file not be read by an error of the disk; and
                if there is none that can be read beside one that we may not read.
        """
        seen: list[int] = []
        refused: OSError | MemoryError | None = None
        # A busy writer can retire every listed file before it is read; newer ones then exist.
        while (steps := self.steps()) != seen:
            seen = steps
            for step in steps:
                try:
                    return self.load(step)
                except FileNotFoundError:
                    log.debug("the checkpoint of step %d is gone", step)
                except CheckpointError as e:
                    cause = e.__cause__.__cause__ if e.__cause__ is not None else None
                    refused = cause if isinstance(cause, PermissionError) else refused
                    log.warning("skips a checkpoint: %s", e)
                except MemoryError as e:
                    refused = e
                    log.warning("skips the checkpoint of step %d: it is larger than the memory here", step)
        if refused is not None:
            # It may be the job's own: to start from the beginning would lose what is there.
            raise refused
        return None

    def _file(self, step: int) -> Path:
        return self._folder / f"step-{step}.kpt"

    def _retain(self, saved: int) -> None:
        """Keeps the newest valid files up to the step just saved.

        A damaged one never displaces a good one. Those of later steps stay: they may be another
        process's. Those of another job stay as well, and what cannot be read or is no file at all:
        they are not ours to remove.
        """
        kept = 0
        for step in self.steps():
            if step > saved:
                continue
            try:
                if kept < self._keep and self._valid(step):
                    kept += 1
                elif self._ours(step):
                    self._file(step).unlink(missing_ok=True)
                    self._verified.discard(step)
            except OSError as e:
                log.warning("leaves %s as it is: %s", self._file(step), e)
        for name in os.listdir(self._folder):
            if name.startswith("step-") and name.endswith(_TEMPORARY):
                try:
                    self._remove_abandoned(self._folder / name)
                except OSError as e:
                    log.warning("leaves %s as it is: %s", self._folder / name, e)

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

    def _ours(self, step: int) -> bool:
        """Whether a file may be removed: a regular one that does not name another job."""
        try:
            with _open(self._file(step)) as file:
                try:
                    return bool(_header(file).get("job") == self._uid)
                except CheckpointError:
                    return True
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


def _open(path: Path) -> BinaryIO:
    """Opens a regular file; anything else of the name, such as a pipe that nobody writes to, is none.

    Raises:
        FileNotFoundError: if there is none.
        CheckpointError: if it is no regular file, or one that we may not read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as e:
        if e.errno in _UNUSABLE:
            raise CheckpointError(f"it cannot be opened: {e.strerror}") from e
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise CheckpointError("it is no regular file")
    return os.fdopen(handle, "rb")


def _header(file: BinaryIO) -> dict[str, Any]:
    start = file.read(len(_MAGIC) + 12)
    if len(start) < len(_MAGIC) + 12 or start[: len(_MAGIC)] != _MAGIC:
        raise CheckpointError("it is not a checkpoint")
    length, code = struct.unpack("<QI", start[len(_MAGIC) :])
    if length > min(_MAX_HEADER, os.fstat(file.fileno()).st_size):
        raise CheckpointError("its header is damaged")
    text = file.read(length)
    if len(text) != length or zlib.crc32(text) != code:
        raise CheckpointError("its header is damaged")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise CheckpointError("its header is no JSON that can be read") from e
    if not isinstance(found, dict):
        raise CheckpointError("its header is damaged")
    return found


def _table(header: dict[str, Any], room: int) -> list[tuple[str, tuple[int, ...], int, int]]:
    """Type, shape, bytes and checksum of each tensor, held against the bytes that there are."""
    entries = header.get("table")
    if not isinstance(entries, list) or not _is_count(header.get("step")) or "form" not in header:
        raise CheckpointError("its header lacks its table, its step or its form")
    table = []
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 5:
            raise CheckpointError("an entry of its table is damaged")
        dtype, shape, _, length, code = entry
        if not (
            isinstance(dtype, str)
            and isinstance(shape, list)
            and len(shape) <= _MAX_RANK
            and all(_is_count(size) and size < 2**63 for size in shape)
            and _is_count(length)
            and _is_count(code)
        ):
            raise CheckpointError("an entry of its table is damaged")
        elements = math.prod(shape)
        if (length % elements if elements else length) != 0:
            raise CheckpointError(f"{length} bytes are no tensor of shape {shape}")
        room -= length
        table.append((dtype, tuple(shape), length, code))
    if room != 0:
        raise CheckpointError("it is cut short" if room < 0 else "it is longer than its header says")
    return table


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _read(path: Path, uid: str) -> Checkpoint:
    with _open(path) as file:
        header = _header(file)
        if header.get("job") != uid:
            raise CheckpointError(
                f"it is of another job ({header.get('job')}), not of {uid}; give each job a folder of its own"
            )
        blocks = []
        room = os.fstat(file.fileno()).st_size - file.tell()
        for dtype, shape, length, code in _table(header, room):
            data = file.read(length)
            if len(data) != length:
                raise CheckpointError("it is cut short")
            if zlib.crc32(data) != code:
                raise CheckpointError("a tensor is damaged")
            blocks.append(Block(dtype, shape, data))
        return Checkpoint(header["step"], header["form"], blocks)


def _sync(folder: Path) -> None:
    """Makes a rename durable; POSIX leaves that to an fsync of the folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
