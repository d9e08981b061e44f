"""Checkpoints: what is damaged, foreign or interrupted never passes for whole."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections import Counter
from enum import Enum
from pathlib import Path

import numpy as np
import pytest

from kastor.checkpoint import Block, Checkpoint, CheckpointFolder
from kastor.errors import CheckpointError
from kastor.tree import TreeError, flatten, places, unflatten


def state(step: int, size: int = 1000) -> Checkpoint:
    data = np.arange(size, dtype=np.float32) + step
    return Checkpoint(
        step, {"x": 0, "step": step}, [Block("float32", (size,), data.tobytes()), Block("int8", (0,), b"")]
    )


def folder(path: Path, uid: str = "u", keep: int = 2) -> CheckpointFolder:
    return CheckpointFolder(path, uid, keep)


def test_reads_what_it_wrote_and_keeps_the_last(tmp_path: Path) -> None:
    own = folder(tmp_path / "new" / "folder")
    for step in (1, 2, 10):
        info = own.save(state(step))
    assert info.step == 10
    assert info.bytes == (tmp_path / "new" / "folder" / "step-10.kpt").stat().st_size
    assert abs(info.saved_at_epoch_millis / 1000 - time.time()) < 60
    assert own.steps() == [10, 2]
    found = folder(tmp_path / "new" / "folder").newest()
    assert found is not None
    assert (found.step, found.form) == (10, {"x": 0, "step": 10})
    assert bytes(found.blocks[0].data) == bytes(state(10).blocks[0].data)
    assert found.blocks[0].shape == (1000,)


def test_every_changed_or_missing_byte_is_found(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own = folder(tmp_path, keep=3)
    own.save(state(1, 20))
    own.save(state(2, 20))
    file = tmp_path / "step-2.kpt"
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with pytest.raises(CheckpointError, match=r"step-2\.kpt is unusable"):
            own.load(2)
    for length in (0, 5, 19, 25, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=r"step-2\.kpt is unusable"):
            own.load(2)
    file.write_bytes(whole + b"x")
    with caplog.at_level(logging.WARNING, "kastor"):
        found = own.newest()
    assert found is not None
    assert found.step == 1
    assert "step-2.kpt is unusable: it is longer than its header says" in caplog.text


def test_those_of_another_job_are_named_skipped_and_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder(tmp_path, "other").save(state(5))
    own = folder(tmp_path)
    with caplog.at_level(logging.WARNING, "kastor"):
        assert own.newest() is None
    assert "it is of another job (other), not of u; give each job a folder of its own" in caplog.text
    for step in (6, 7, 8):
        own.save(state(step))
    assert own.steps() == [8, 7, 5]


def test_a_damaged_one_displaces_no_good_one(tmp_path: Path) -> None:
    own = folder(tmp_path)
    own.save(state(1))
    own.save(state(2))
    (tmp_path / "step-3.kpt").write_bytes(b"damaged")
    folder(tmp_path).save(state(4))
    assert own.steps() == [4, 2]


def test_what_cannot_be_written_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = folder(tmp_path)
    own.save(state(1))

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        own.save(state(2))
    assert [p.name for p in tmp_path.iterdir()] == ["step-1.kpt"]


def test_temporary_files_of_killed_writers_are_removed_in_time(tmp_path: Path) -> None:
    own = folder(tmp_path)
    old, young = tmp_path / "step-1.aa.tmp", tmp_path / "step-1.bb.tmp"
    old.touch()
    young.touch()
    os.utime(old, (time.time() - 3600, time.time() - 3600))
    own.save(state(1))
    assert not old.exists()
    assert young.exists()


@pytest.mark.slow
@pytest.mark.never_retried
def test_survives_a_kill_while_it_saves(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from kastor.checkpoint import *\n"
        "f = CheckpointFolder(Path(sys.argv[1]), 'u', 2); n = 0\n"
        "while True:\n"
        "    n += 1; f.save(Checkpoint(n, n, [Block('uint8', (3_000_000,), bytes([n % 256]) * 3_000_000)]))\n"
        "    print(n, flush=True)\n"
    )
    for number in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
        )
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(3)]
        time.sleep(0.003 * number)
        process.kill()
        told += [int(line) for line in process.stdout.read().split()]
        process.wait()
        process.stdout.close()
        found = folder(tmp_path).newest()
        assert found is not None
        assert found.step >= told[-1]
        assert set(bytes(found.blocks[0].data)) == {found.form % 256}


class Leaf:
    """Leaf of a tree."""


class Verdict(Enum):
    """Value of a kind that no tree holds."""

    YES = "yes"


def test_trees_come_back_as_they_were() -> None:
    a, b = Leaf(), Leaf()
    tree = {
        "m": {"w": a},
        3: [b, (1, 2.5, None, True)],
        "inf": float("-inf"),
        "t": ("x",),
        "n": np.float64(0.1),
        "i": np.int64(7),
        "c": Counter({3: 2}),
        "e": {},
    }
    form, leaves = flatten(tree, Leaf)
    assert leaves == [a, b]
    assert json.loads(json.dumps(form, allow_nan=False)) == form
    back = unflatten(form, leaves)
    assert back == {**tree, "n": 0.1, "i": 7}
    assert isinstance(back["t"], tuple)
    assert [type(back[name]) for name in ("n", "i", "c", "e")] == [float, int, Counter, dict]
    with pytest.raises(TreeError, match="it is not a tree: IndexError"):
        unflatten({"x": 2}, leaves)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (
            {"f": lambda: 0},
            "state.f holds a builtins.function, which can neither be sent to another replica nor saved. Let"
            " state_dict() return tensors, numbers, texts, lists and dicts alone.",
        ),
        ({"a": [0, {"b": (1, object())}]}, "state.a[1].b[1] holds a builtins.object, which"),
        ({"a": {(1, object()): 2}}, "state.a key[1] holds a builtins.object, which"),
        ([np.zeros(2)], "state[0] holds a numpy.ndarray, which"),
        ([np.datetime64(1, "D")], "state[0] holds a datetime.date, which"),
        ({"e": Verdict.YES}, "state.e holds an enum"),
    ],
)
def test_what_no_tree_can_hold_is_named_by_its_place(tree: object, message: str) -> None:
    with pytest.raises(TreeError) as e:
        flatten(tree, Leaf)
    assert str(e.value).startswith(message)


def test_places_name_leaves_and_values() -> None:
    tree = {
        "parts": {"model": {"0.weight": Leaf()}, "optimizer": {"groups": [{"lr": 0.1}, {"lr": float("inf")}]}},
        "pair": (Leaf(), 3),
        "seen": Counter({"a": 1}),
        "none": {},
    }
    leaves, values = places(flatten(tree, Leaf)[0])
    assert leaves == ["parts.model.0.weight", "pair.0"]
    assert values == {
        "parts.optimizer.groups.0.lr": 0.1,
        "parts.optimizer.groups.1.lr": "inf",
        "pair.1": 3,
        "seen.a": 1,
    }


def test_a_file_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    own = folder(tmp_path)
    own.save(state(2, 20))
    file = tmp_path / "step-2.kpt"
    whole = file.read_bytes()
    at = whole.index(b"{")
    for damaged, message in (
        (b"", "it is not a checkpoint"),
        (b"KASTORP2" + whole[8:], "it is not a checkpoint"),
        (whole[: at + 5], "its header is damaged"),
        (whole[: at + 5] + b"#" + whole[at + 6 :], "its header is damaged"),
        (whole[:-1], "it is cut short"),
        (whole[:-1] + b"#", "a tensor is damaged"),
    ):
        file.write_bytes(damaged)
        with pytest.raises(CheckpointError) as e:
            own.load(2)
        assert str(e.value) == f"Checkpoint {file} is unusable: {message}."
    file.write_bytes(whole)
    file.rename(tmp_path / "step-3.kpt")
    with pytest.raises(CheckpointError, match="it holds step 2"):
        own.load(3)


def test_keeps_one_at_least(tmp_path: Path) -> None:
    own = folder(tmp_path, keep=1)
    own.save(state(1))
    own.save(state(2))
    assert own.steps() == [2]
    with pytest.raises(ValueError, match="keep_last must be at least 1 but is 0"):
        folder(tmp_path, keep=0)
