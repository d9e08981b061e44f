"""Patience of a real operator: with an evaluation that is longer than its hang timeout, not with a step."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from local_kastor import HANG_TIMEOUT_SECONDS, ROOT, LocalKastor, Started

pytest.importorskip("torch")
pytestmark = [pytest.mark.integration, pytest.mark.timeout(3600)]

SCRIPT = ROOT / "python" / "tests" / "scripts" / "hangs.py"


def test_who_evaluates_for_long_is_waited_for_and_who_hangs_in_a_step_is_replaced(
    kastor: LocalKastor, tmp_path: Path
) -> None:
    places = {"between": "between two loops", "amid": "in an evaluation amid steps", "step": "in a step"}
    jobs: dict[str, Started] = {}
    for name, where in places.items():
        options = {"where": where, "begins": str(tmp_path / "begin") if name == "step" else ""}
        jobs[name] = kastor.submit(
            name,
            SCRIPT,
            (1, 1),
            OPTIONS=json.dumps(options),
            ONCE=str(tmp_path / f"{name}.once"),
            ON=str(tmp_path / "on"),
        )
    # Those that evaluate have taken no step for longer than the one that hangs.
    for name in ("between", "amid"):
        jobs[name].wait_until(f"{name} evaluates", (tmp_path / f"{name}.once").exists)
    jobs["step"].wait_until("the one that is to hang is there", lambda: kastor.replicas("step"))
    first = kastor.replicas("step")
    (tmp_path / "begin").touch()
    jobs["step"].wait_until("it is replaced", lambda: kastor.replicas("step") not in ([], first))
    (tmp_path / "on").touch()

    for name, job in jobs.items():
        assert job.ends() == 0, job.said()
        status = kastor.job(name)["status"]
        assert (status["phase"], status["training"]["lostOrRepeatedExamples"]) == ("Succeeded", 0)
        log = kastor.command("logs", name).stdout
        if name == "step":
            # The operator knows the step of the last poll.
            (message,) = hung(kastor, name)
            told = re.search(r"No step for (\d+) s: step-0 computes at step \d+\. step-0 is replaced\.", message)
            assert told is not None, message
            assert int(told[1]) >= HANG_TIMEOUT_SECONDS
            assert "goes on" not in log
        else:
            assert hung(kastor, name) == []
            assert "goes on" in log


def hung(kastor: LocalKastor, job: str) -> list[str]:
    """What the operator says of a job that hangs."""
    events: list[dict[str, Any]] = json.loads(kastor.command("events", job, "-o", "json").stdout)["events"]
    return [event["message"] for event in events if event["reason"] == "NoProgress"]
