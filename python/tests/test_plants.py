"""Checkpoints: whatever somebody put under the name of one is skipped, and saving goes on."""

from __future__ import annotations

import json
import os
import socket
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from kastor.checkpoint import Block, Checkpoint, CheckpointFolder

LIST = Path(__file__).parents[2] / "engine/src/test/resources/dev/kastor/engine/checkpoint/plants.txt"


def state(step: int) -> Checkpoint:
    return Checkpoint(step, {"step": step}, [Block("float32", (4,), bytes(16))])


def forged(header: bytes, body: bytes = b"") -> bytes:
    return b"KASTORP1" + struct.pack("<QI", len(header), zlib.crc32(header)) + header + body


def table(entry: object) -> bytes:
    return forged(json.dumps({"job": "u", "step": 99, "form": {}, "table": [entry]}).encode(), bytes(16))


def whole(folder: Path) -> bytes:
    return (folder / "step-5.kpt").read_bytes()


def bind(at: Path) -> None:
    # The name of a socket may be short only.
    before = Path.cwd()
    os.chdir(at.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(at.name)
    finally:
        os.chdir(before)


def holes(at: Path) -> None:
    with at.open("wb") as file:
        file.write(b"KASTORP1" + struct.pack("<QI", 2**40, 0))
        file.truncate(2**41)


MAKERS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "socket": bind,
    "link-to-itself": lambda at: at.symlink_to(at),
    "dangling-link": lambda at: at.symlink_to("nowhere"),
    "link-to-endless-zeros": lambda at: at.symlink_to("/dev/zero"),
    "empty": lambda at: at.write_bytes(b""),
    "text": lambda at: at.write_bytes(b"a checkpoint\n" * 100),
    "start-of-a-good-one": lambda at: at.write_bytes(whole(at.parent)[:-3]),
    "good-one-with-bytes-behind": lambda at: at.write_bytes(whole(at.parent) + b"more"),
    "good-one-with-a-changed-bit": lambda at: at.write_bytes(whole(at.parent)[:-1] + b"\1"),
    "huge-length-of-the-header": lambda at: at.write_bytes(b"KASTORP1" + struct.pack("<QI", 2**62, 0)),
    "huge-length-of-the-state": lambda at: at.write_bytes(table(["float32", [2**44], 0, 2**46, 0])),
    "negative-length": lambda at: at.write_bytes(table(["float32", [4], 0, -1, 0])),
    "file-with-holes": holes,
    "header-of-another-form": lambda at: [
        at.write_bytes(forged(header))
        for header in (b"[]", b'{"job": "u"}', b"\xff", b"{", b'{"job": "u", "table": [1], "step": 99, "form": 0}')
    ],
    "deeply-nested-header": lambda at: at.write_bytes(forged(b"[" * 200_000)),
    "number-too-long-for-a-step": lambda at: at.with_name("step-99999999999999999999.kpt").write_bytes(b"x"),
}

ENTRIES = [
    ["float32", "x", 0, 16, 0],
    ["float32", [4], 0, "16", 0],
    ["float32", 4, 0, 16, 0],
    ["float32", [3], 0, 16, zlib.crc32(bytes(16))],
    [1, [4], 0, 16, 0],
    [],
    1,
    None,
]


def survives(folder: Path) -> None:
    own = CheckpointFolder(folder, "u", 2)
    found = own.newest()
    assert found is not None
    assert found.step == 5
    own.save(state(100))
    own.save(state(101))
    newest = CheckpointFolder(folder, "u", 2).newest()
    assert newest is not None
    assert newest.step == 101
    assert not (folder / "step-5.kpt").exists(), "retention works on"


def test_all_plants_of_the_list_are_made() -> None:
    names = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    assert sorted(names) == sorted(MAKERS)


@pytest.mark.never_retried
@pytest.mark.parametrize("name", MAKERS)
def test_a_plant_is_skipped_and_saving_goes_on(tmp_path: Path, name: str) -> None:
    CheckpointFolder(tmp_path, "u", 2).save(state(5))
    MAKERS[name](tmp_path / "step-99.kpt")
    survives(tmp_path)


@pytest.mark.never_retried
@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_of_the_table_that_is_none_makes_it_unusable(tmp_path: Path, entry: object) -> None:
    CheckpointFolder(tmp_path, "u", 2).save(state(5))
    (tmp_path / "step-99.kpt").write_bytes(table(entry))
    survives(tmp_path)


@pytest.mark.never_retried
def test_what_is_planted_stays_where_it_is_no_file(tmp_path: Path) -> None:
    own = CheckpointFolder(tmp_path, "u", 1)
    (tmp_path / "step-3.kpt").mkdir()
    (tmp_path / "step-3.kpt" / "mine").write_bytes(b"x")
    own.save(state(5))
    assert (tmp_path / "step-3.kpt" / "mine").exists()


@pytest.mark.never_retried
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_checkpoints_that_we_may_not_read_are_not_taken_for_none(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    CheckpointFolder(tmp_path, "u", 2).save(state(5))
    (tmp_path / "step-5.kpt").chmod(0o000)
    child = os.fork()
    if child == 0:
        try:
            os.setuid(65532)
            CheckpointFolder(tmp_path, "u", 2).newest()
        except PermissionError:
            os._exit(7)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7


@pytest.mark.never_retried
def test_a_folder_named_like_a_leftover_ends_no_clean_up(tmp_path: Path) -> None:
    (tmp_path / "step-1.a.tmp" / "x").mkdir(parents=True)
    (tmp_path / "step-1.b.tmp").write_bytes(b"x")
    for leftover in tmp_path.iterdir():
        os.utime(leftover, (0, 0))
    CheckpointFolder(tmp_path, "u", 1).save(state(5))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["step-1.a.tmp", "step-5.kpt"]
