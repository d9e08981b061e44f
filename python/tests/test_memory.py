"""Job of a cluster whose first batch does not fit the memory of a replica."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from local_kastor import LocalKastor

pytest.importorskip("torch")
pytestmark = pytest.mark.integration

SCRIPT = Path(__file__).parent / "scripts" / "small_memory.py"


@pytest.mark.timeout(3600)
def test_a_job_goes_on_with_a_batch_that_fits(kastor: LocalKastor) -> None:
    # Its replicas hold 24 examples a pass: 64 and 32 do not fit, 16 do.
    command = ["run", "--name", "big", "--replicas", "1", "--batch", "64", "--", sys.executable, str(SCRIPT)]
    run = kastor.start("big", *command)
    assert run.ends() == 0, run.said()[-6000:]
    status = kastor.job("big")["status"]
    assert status["phase"] == "Succeeded"
    assert status["training"]["mostExamples"] == {"cpu": 16}
    assert status["training"]["atomicBatch"] <= 16
    assert status["training"]["lostOrRepeatedExamples"] == 0
    described = kastor.command("describe", "big").stdout
    assert "fits examples a pass: 16 on cpu" in described
    assert "kastor-python/" in described
    assert "ran out of memory at 64 examples a pass: replicas get at most 32 from now on" in described
    assert "ClientUnknown" not in described
