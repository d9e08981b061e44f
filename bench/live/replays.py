"""Replays of what a run has recorded, beside what it took."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from cluster import KASTOR


def means(recording: Path, policies: list[str]) -> dict[str, float]:
    """Returns the mean completion of a recording's jobs in seconds, replayed under each policy."""
    made = recording.with_name("replays.json")
    call = [KASTOR, "simulate", "--quiet", "--recording", str(recording), "--policy", ",".join(policies)]
    subprocess.run([*call, "--json", str(made)], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))
    return {run["policy"]: float(run["avgJctSeconds"]) for run in json.loads(made.read_text())["runs"]}


def bound(recording: Path) -> tuple[float, float]:
    """Returns two means in seconds: none is below the first; who knows all and never pauses has the second."""
    made = recording.with_name("bound.json")
    call = [KASTOR, "simulate", "--quiet", "--recording", str(recording), "--policy", "fifo"]
    options = ["--bound", "--bound-slot", "5", "--json", str(made)]
    subprocess.run([*call, *options], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))
    found = json.loads(made.read_text())["runs"][0]["lowerBound"]
    return float(found["avgJctSeconds"]), float(found["reachedSeconds"])
