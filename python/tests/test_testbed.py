"""Real jobs on paced slots, as ``bench/testbed`` has them: a quarter of their work, and limits that a fault passes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from local_kastor import ROOT, Started, built

pytest.importorskip("torch")
pytestmark = [pytest.mark.integration, pytest.mark.nightly, pytest.mark.timeout(7200)]


def test_nothing_is_lost_and_few_growths_are_taken_back(tmp_path: Path) -> None:
    built()
    call = [str(ROOT / "bench/testbed"), "--orders", "1", "--under", "kastor", "static-2"]
    call += ["--work", "0.5", "--gap", "4", "--out", str(tmp_path / "runs")]
    testbed = Started(call, None, tmp_path / "output")
    try:
        assert testbed.ends(6000) == 0, testbed.said()[-3000:]
    finally:
        testbed.process.terminate()
        testbed.process.wait()
    assert "| kastor |" in testbed.said()
    found = {under: runs[0] for under, runs in json.loads((tmp_path / "runs/testbed.json").read_text()).items()}
    kastor, static = found["kastor"], found["static-2"]
    # A run raises where a job fails.
    assert kastor["lost"] == static["lost"] == 0
    assert kastor["undone"] <= kastor["changes"] / 3, kastor
    # Other parts of the gate run beside it.
    assert kastor["mean"] <= 2 * static["mean"], (kastor["mean"], static["mean"])
