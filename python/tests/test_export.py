"""Files of `kastor export`, read by the packages that others read them with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "engine" / "src" / "test" / "resources" / "export"
# As WritersTest of the engine makes them: value i is i / 2 - 1, the weight first.
TENSORS = {
    "head.weight": np.array([[-1, -0.5], [0, 0.5], [1, 1.5]], dtype=np.float32),
    "head.bias": np.array([2, 2.5], dtype=np.float32),
}


def check(found: dict[str, Any]) -> None:
    assert sorted(found) == sorted(TENSORS)
    for name, wanted in TENSORS.items():
        assert found[name].dtype == np.float32
        np.testing.assert_array_equal(found[name], wanted)


def test_numpy_reads_npz() -> None:
    with np.load(FOLDER / "tiny.npz", allow_pickle=False) as arrays:
        check({name: arrays[name] for name in arrays.files})


def test_safetensors_reads_safetensors() -> None:
    safetensors = pytest.importorskip("safetensors", reason="it comes with the frameworks")
    with safetensors.safe_open(FOLDER / "tiny.safetensors", framework="np") as file:
        names = list(file.keys())
        check({name: file.get_tensor(name) for name in names})
        facts = file.metadata()
    assert facts["kastor.labels"] == '["no","yes"]'
    assert facts["kastor.step"] == "7"
