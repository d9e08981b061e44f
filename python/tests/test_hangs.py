"""Patience of a real operator: with an evaluation that is longer than its hang timeout, not with a step."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from local_kastor import ROOT, LocalKastor

pytest.importorskip("torch")
pytestmark = [pytest.mark.integration, pytest.mark.timeout(1800)]  # The first one may have to wait for a build.

SCRIPT = ROOT / "python" / "tests" / "scripts" / "hangs.py"
TIMEOUT_SECONDS = 6
SLEEP_SECONDS = 20
PATIENCE_SECONDS = 300


def test_who_evaluates_for_long_is_waited_for_and_who_hangs_in_a_step_is_replaced(tmp_path: Path) -> None:
    places = {"between": "between two loops", "amid": "in an evaluation amid steps", "step": "in a step"}
    kastor = LocalKastor(tmp_path, 3, KASTOR_HANG_TIMEOUT=f"{TIMEOUT_SECONDS}s")
    jobs = {}
    try:
        for name, where in places.items():
            jobs[name] = kastor.submit(
                name,
                SCRIPT,
                (1, 1),
                OPTIONS=json.dumps({"where": where, "seconds": SLEEP_SECONDS}),
                ONCE=str(tmp_path / f"{name}.once"),
            )
        for name, job in jobs.items():
            assert job.ends(PATIENCE_SECONDS) == 0, job.said()
            status = kastor.job(name)["status"]
            assert (status["phase"], status["training"]["lostOrRepeatedExamples"]) == ("Succeeded", 0)
            log = kastor.command("logs", name).stdout
            events = json.loads(kastor.command("events", name, "-o", "json").stdout)["events"]
            hung = [event["message"] for event in events if event["reason"] == "NoProgress"]
            if name == "step":
                assert len(hung) == 1
                # The operator knows the step of the last poll.
                assert re.search(r"No step for 6 s: step-0 computes at step \d+\. step-0 is replaced\.", hung[0])
                assert "has slept" not in log
            else:
                assert hung == []
                assert "has slept" in log
    finally:
        for job in jobs.values():
            job.end()
        kastor.close()
