"""Fields, types and bounds that the operator demands of what replicas send."""

from __future__ import annotations

import math
import re
from typing import Any

MOST = 2**52
TEXT, WHOLE, NUMBER = "text", "whole", "number"

# Name of a record: its required fields, then its optional ones. A list is one of records.
RECORDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "BatchPlan": ({"atomicBatchSize": WHOLE, "accumulationSteps": WHOLE}, {}),
    "CheckpointInfo": ({"step": WHOLE, "bytes": WHOLE, "savedAtEpochMillis": WHOLE}, {}),
    "GradientStats": ({"squaredNorm": NUMBER, "variance": NUMBER, "initialBatch": WHOLE}, {}),
    "Outcome": (
        {"kind": TEXT, "lostOrRepeatedExamples": WHOLE, "message": TEXT},
        {"progress": "Progress", "metricName": TEXT, "metric": NUMBER},
    ),
    "Progress": (
        {
            "step": WHOLE,
            "scaleInvariantSteps": NUMBER,
            "totalScaleInvariantSteps": NUMBER,
            "examples": WHOLE,
            "epoch": WHOLE,
        },
        {},
    ),
    "Slowest": ({"pod": TEXT, "passSeconds": NUMBER, "othersSeconds": NUMBER}, {}),
    "StepProfile": (
        {
            "nodes": WHOLE,
            "replicas": WHOLE,
            "atomicBatchSize": WHOLE,
            "steps": WHOLE,
            "stepSeconds": NUMBER,
            "syncSeconds": NUMBER,
        },
        {"gpuType": TEXT},
    ),
    "Switch": (
        {"generation": WHOLE, "replicasBefore": WHOLE, "replicasAfter": WHOLE, "cause": TEXT, "pauseSeconds": NUMBER},
        {},
    ),
    "TelemetryReport": (
        {
            "namespace": TEXT,
            "job": TEXT,
            "pod": TEXT,
            "generation": WHOLE,
            "sequence": WHOLE,
            "replicas": WHOLE,
            "batch": "BatchPlan",
            "profiles": ["StepProfile"],
            "progress": "Progress",
            "switches": ["Switch"],
        },
        {
            "gradient": "GradientStats",
            "trainingLoss": NUMBER,
            "learningRate": NUMBER,
            "checkpoint": "CheckpointInfo",
            "outcome": "Outcome",
            "slowest": "Slowest",
        },
    ),
}

_CHOICES = {
    "cause": {"START", "RESCALE", "FAILURE"},
    "kind": {"COMPLETED", "STOPPED", "LEFT", "FAILED_PERMANENTLY", "FAILED"},
}
_SIGNED = {"trainingLoss", "metric"}


def wrong_poll(query: dict[str, str]) -> str:
    """Parameter of a poll that is wrong; empty if none is."""
    if query.get("phase") not in ("STARTING", "READY", "TRAINING", "BROKEN"):
        return "phase"
    if query.get("doing") not in ("TRAIN", "EVALUATE", "SAVE", "LOAD", "COMPILE"):
        return "doing"
    if not re.fullmatch(r"[A-Za-z0-9.:\[\]_-]{1,260}:[0-9]{1,5}", query.get("address", "")):
        return "address"
    if query.get("waiting") not in ("true", "false"):
        return "waiting"
    for name in ("generation", "step", "wait"):
        if not re.fullmatch(r"-?[0-9]+", query.get(name, "")):
            return name
    return ""


def wrong_report(report: Any, size: int) -> str:
    """What is wrong with a report; empty if nothing is."""
    if size > 64 * 1024:
        return "too large"
    wrong = _wrong(report, "TelemetryReport", "")
    if wrong:
        return wrong
    for profile in report["profiles"]:
        if profile["stepSeconds"] < 1e-9 or profile["syncSeconds"] > profile["stepSeconds"] or profile["steps"] < 1:
            return "profiles.stepSeconds"
        if not 1 <= profile["nodes"] <= profile["replicas"]:
            return "profiles.replicas"
    if len(report["profiles"]) > 100 or len(report["switches"]) > 100:
        return "entries"
    return "outcome.message" if len(report.get("outcome", {}).get("message", "")) > 2048 else ""


def _wrong(value: Any, kind: Any, path: str) -> str:
    if isinstance(kind, list):
        if not isinstance(value, list):
            return path
        return next((w for i, v in enumerate(value) if (w := _wrong(v, kind[0], f"{path}[{i}]"))), "")
    if kind == TEXT:
        right = isinstance(value, str)
    elif kind == WHOLE:
        right = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST
    elif kind == NUMBER:
        right = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        right = right and (value >= 0 or path.split(".")[-1] in _SIGNED)
    else:
        return _wrong_record(value, kind, path)
    name = path.split(".")[-1]
    right = right and value in _CHOICES.get(name, {value})
    return "" if right else f"{path}={value!r}"


def _wrong_record(value: Any, kind: str, path: str) -> str:
    required, optional = RECORDS[kind]
    if not isinstance(value, dict):
        return path
    known = {**required, **optional}
    for name in value:
        if name not in known:
            return f"{path}.{name}: there is no such field"
    for name in required:
        if name not in value:
            return f"{path}.{name}: missing"
    return next((w for name, v in value.items() if (w := _wrong(v, known[name], f"{path}.{name}"))), "")
