"""Run of the testbed: jobs come to a cluster of paced slots; what they are given is noted until all have ended."""

from __future__ import annotations

import datetime
import itertools
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cluster import LocalKastor, environment, remove
from jobs import Job, Shape, arrivals, folder_of, manifest
from picture import draw

_POLL_SECONDS = 0.5
_ASK_SECONDS = 20
# For as long a replay lets a job go on of which nothing was measured yet.
_UNKNOWN_SECONDS = 3500
_LONGEST_SECONDS = 3600
# A change that is taken back so soon after its first step has only cost.
_UNDONE_SECONDS = 10
_COSTLIEST = 10

UNDER: Mapping[str, tuple[str, Shape]] = {
    **{f"static-{n}": ("fifo", Shape(n, n, adapts=False)) for n in (1, 2, 4)},
    **{f"tuned-{n}": ("fifo", Shape(n, n)) for n in (1, 2, 4)},
    **{policy: (policy, Shape()) for policy in ("fifo", "tiresias", "optimus", "pollux", "sia", "kastor")},
    "kastor-again": ("kastor", Shape()),
}
"""Policy and shape of the jobs by the name of a run; ``kastor-again`` runs all twice and counts the second time."""


def run(out: Path, order: int, under: str, slots: int, mean_gap: float, work: float) -> dict[str, Any]:
    """Runs all jobs, or returns what an earlier run found; leaves ``run.json`` and ``recording.json`` in its folder."""
    folder = folder_of(out, order, under)
    result = folder / "run.json"
    options = {"slots": slots, "gap": mean_gap, "work": work}
    if result.exists():
        found: dict[str, Any] = json.loads(result.read_text())
        if found["options"] != options:
            sys.exit(f"bench/testbed: {folder} is of a run with {found['options']}. Name another folder by --out.")
        return found
    remove(folder)
    policy, shape = UNDER[under]
    variables = environment(folder / "home")
    plan = [(at, job, manifest(job, shape, work, variables)) for at, job in arrivals(order, mean_gap)]
    cluster = LocalKastor(folder / "home", slots, policy, "--paced")
    try:
        for round_ in range(2 if under == "kastor-again" else 1):
            if round_:
                for _, job, _ in plan:
                    cluster.remove(job.name)
                while cluster.jobs():
                    time.sleep(_POLL_SECONDS)
            trace = _train(cluster, plan, f"order {order}, {under}")
        jobs = cluster.jobs()
        cluster.record(folder / "recording.json")
        logs = {job.name: cluster.log(job.name) for _, job, _ in plan}
    finally:
        cluster.close()
    found = {
        "order": order,
        "under": under,
        "options": options,
        "jobs": jobs,
        "trace": trace,
        **figures(jobs, trace),
        **_late(logs),
    }
    draw(folder / "allocation.svg", f"order {order}, {under}: mean {found['mean']:.0f} s", slots, trace)
    (folder / "run.json").write_text(json.dumps(found))
    remove(folder / "home")
    return found


def _train(cluster: LocalKastor, plan: list[tuple[float, Job, dict[str, Any]]], name: str) -> list[dict[str, Any]]:
    """Lets jobs arrive and waits until all have ended; what each had at each look."""
    began = time.monotonic()
    waiting, trace, ended, ask = list(plan), [], 0, 0.0
    while True:
        now = time.monotonic() - began
        while waiting and waiting[0][0] <= now:
            _, _, job = waiting.pop(0)
            cluster.submit(job)
        jobs = cluster.jobs()
        seen = {j["name"]: [j["phase"], j["replicas"], j["trainingReplicas"], _left(j)] for j in jobs}
        row: dict[str, Any] = {"t": now, "jobs": seen}
        # A replay of the future knows of no arrivals, so it is asked for once all jobs are there.
        if not waiting and now >= ask:
            ask = now + _ASK_SECONDS
            foreseen = cluster.foreseen()
            row["starts"], row["ends"] = (
                {j["name"]: _time(j[what]) - time.time() for j in foreseen if j[what]} for what in ("start", "end")
            )
            if max(row["ends"].values(), default=0.0) >= _UNKNOWN_SECONDS:
                del row["starts"], row["ends"]
        trace.append(row)
        failed = [j["name"] for j in jobs if j["phase"] == "Failed"]
        if failed:
            raise RuntimeError(f"{name}: {failed} failed: {cluster.log(failed[0])[-2000:]}")
        over = sum(j["phase"] == "Succeeded" for j in jobs)
        if over > ended:
            ended = over
            progress(f"{name}: {ended} of {len(plan)} jobs have ended after {now:.0f} s")
        if ended == len(plan):
            return trace
        if now > _LONGEST_SECONDS:
            raise RuntimeError(f"{name}: only {ended} of {len(plan)} jobs have ended after {now:.0f} s")
        time.sleep(_POLL_SECONDS)


def figures(jobs: list[dict[str, Any]], trace: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the figures of a run: seconds of jobs and slots, and counts of changes."""
    taken = sorted(_between(job["submitted"], job["ended"]) for job in jobs)
    held = trained = 0.0
    for before, after in itertools.pairwise(trace):
        seconds = after["t"] - before["t"]
        for phase, replicas, training, _ in before["jobs"].values():
            held += seconds * replicas
            trained += seconds * (min(training or 0, replicas) if phase == "Running" else 0)
    changes = [change for job in jobs for change in _changes(job["name"], trace)]
    return {
        "mean": sum(taken) / len(taken),
        "p90": taken[int(0.9 * (len(taken) - 1))],
        "makespan": max(map(_time, (j["ended"] for j in jobs))) - min(map(_time, (j["submitted"] for j in jobs))),
        "wait": sum(_between(job["submitted"], job["started"]) for job in jobs) / len(jobs),
        "held": held,
        "trained": trained,
        "changes": len(changes),
        "undone": sum(change["undone"] for change in changes),
        "neverTrained": sum(change["trained"] is None for change in changes),
        "costliest": sorted(changes, key=lambda change: -change["idle"])[:_COSTLIEST],
        "restarts": sum(job["restarts"] for job in jobs),
        "lost": sum(job["lostOrRepeatedExamples"] or 0 for job in jobs),
        "endError": _error(trace, {"Succeeded"}, _lefts),
        "lastEndError": _error([row for row in trace if len(row["jobs"]) == len(jobs)], {"Succeeded"}, _lefts),
        "foreseenError": _error(trace, {"Succeeded"}, lambda row: row.get("ends", {})),
        "foreseenStartError": _error(trace, {"Starting", "Running", "Succeeded"}, lambda row: row.get("starts", {})),
    }


def _changes(name: str, trace: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Growths of a job, starts among them: when it trained with them first, slot seconds that did not train until then,
    and whether they were undone soon after.
    """
    found: list[dict[str, Any]] = []
    current: dict[str, Any] | None = None
    before = 0
    for last, row in itertools.pairwise([*trace[:1], *trace]):
        phase, replicas, training, _ = row["jobs"].get(name, ["", 0, 0, None])
        over = phase == "Succeeded"
        if current is not None and current["trained"] is None:
            idle = replicas - (min(training or 0, replicas) if phase == "Running" else 0)
            current["idle"] += idle * (row["t"] - last["t"])
        if replicas != before:
            if current is not None:
                trained = current["trained"]
                soon = trained is not None and row["t"] - trained <= _UNDONE_SECONDS
                current["undone"] = not over and replicas < before and soon
            current = None
            if replicas > before:
                current = {
                    "job": name,
                    "from": before,
                    "to": replicas,
                    "at": row["t"],
                    "trained": None,
                    "idle": 0.0,
                    "undone": False,
                }
                found.append(current)
            before = replicas
        if current is not None and current["trained"] is None and phase == "Running" and training == replicas:
            current["trained"] = row["t"]
    return found


def _lefts(row: dict[str, Any]) -> dict[str, float | None]:
    """Seconds that jobs have left by their ETAs at a row."""
    return {name: left for name, (*_, left) in row["jobs"].items()}


def _left(job: dict[str, Any]) -> float | None:
    """Seconds that a job has left by its ETA."""
    return _time(job["eta"]) - time.time() if job["eta"] else None


def _error(
    trace: list[dict[str, Any]], phases: set[str], lefts: Callable[[dict[str, Any]], Mapping[str, float | None]]
) -> float | None:
    """Median error of seconds that jobs were said to have left, as a share of what they had; None without any.

    Args:
        trace: rows of a run.
        phases: the first row in one of these is when the time was over.
        lefts: what was said at a row, by the names of jobs.
    """
    reached: dict[str, float] = {}
    for row in trace:
        for name, (now, *_) in row["jobs"].items():
            if now in phases:
                reached.setdefault(name, row["t"])
    errors = [
        abs(left - (reached[name] - row["t"])) / (reached[name] - row["t"])
        for row in trace
        for name, left in lefts(row).items()
        if left is not None and reached[name] > row["t"]
    ]
    return statistics.median(errors) if errors else None


def _late(logs: dict[str, str]) -> dict[str, Any]:
    """By how much passes were later than their pace, at most, and for how many jobs more than a twentieth."""
    times = {
        job: [float(each) for each in re.findall(r"passes take ([0-9.]+) times", log)] for job, log in logs.items()
    }
    late = {job: max(found) for job, found in times.items() if found}
    return {"late": max(late.values(), default=1.0), "lateJobs": sorted(late)}


def _time(text: str) -> float:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _between(begin: str, end: str) -> float:
    return _time(end) - _time(begin)


def progress(text: str) -> None:
    """Writes a line on standard error."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
