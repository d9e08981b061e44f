"""Jobs of the testbed: shipped programs and two scripts of examples/pytorch, of one to ten minutes at their pace."""

from __future__ import annotations

import json
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster import KASTOR, ROOT

_SCRIPTS = ROOT / "examples/pytorch"
_MOST = 4


@dataclass(frozen=True)
class Kind:
    """Kind of job: its batches, and the rate of a program; ``rate`` is None for a script, which has its own."""

    initial: int
    most: int
    per_device: tuple[int, int]
    rate: dict[str, str] | None


KINDS = {
    "glyph-cnn": Kind(32, 512, (8, 128), {"base": "0.03", "scaling": "AdaScale"}),
    "glyph-mlp": Kind(64, 2048, (16, 512), {"base": "0.05", "scaling": "AdaScale"}),
    "byte-lm": Kind(16, 256, (4, 64), {"base": "0.002", "scaling": "SquareRoot"}),
    "cnn": Kind(64, 1024, (1, 256), None),
    "gpt": Kind(16, 256, (1, 256), None),
}


@dataclass(frozen=True)
class Job:
    """Job of a kind; ``work`` is in steps of a program, in epochs of a script."""

    name: str
    kind: str
    work: int


JOBS = [
    *(Job(f"cnn-{n}", "glyph-cnn", steps) for n, steps in enumerate([340, 1240, 228, 570])),
    *(Job(f"lm-{n}", "byte-lm", steps) for n, steps in enumerate([240, 95, 155])),
    *(Job(f"mlp-{n}", "glyph-mlp", steps) for n, steps in enumerate([270, 680, 1550])),
    Job("script-cnn", "cnn", 1),
    Job("script-gpt", "gpt", 1),
]


@dataclass(frozen=True)
class Shape:
    """Shape of all jobs of a run: bounds of replicas, and whether the batch adapts."""

    fewest: int = 1
    most: int = _MOST
    adapts: bool = True


def arrivals(order: int, mean_gap: float) -> list[tuple[float, Job]]:
    """Returns jobs by the seconds at which they arrive: in a random order, with gaps of an exponential distribution."""
    draw = random.Random(order)
    jobs = list(JOBS)
    draw.shuffle(jobs)
    at, found = 0.0, []
    for job in jobs:
        found.append((at, job))
        at += draw.expovariate(1 / mean_gap)
    return found


def manifest(job: Job, shape: Shape, factor: float, environment: dict[str, str]) -> dict[str, Any]:
    """Returns the TrainingJob of a job whose work is multiplied by a factor."""
    kind = KINDS[job.kind]
    work = max(1, round(factor * job.work))
    if kind.rate is None:
        return _script(job, kind, shape, work, environment)
    least, most = kind.per_device
    goodput: dict[str, Any] = {
        "batchSize": {"initial": kind.initial, "max": kind.most, "perDevice": {"min": least, "max": most}},
        "learningRate": kind.rate,
        "work": {"steps": work},
    }
    if not shape.adapts:
        goodput["mode"] = "Fixed"
    return {
        "apiVersion": "kastor.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": job.name},
        "spec": {
            "program": {"name": job.kind},
            "elastic": {"minReplicas": shape.fewest, "maxReplicas": shape.most},
            "goodput": goodput,
        },
    }


def _script(job: Job, kind: Kind, shape: Shape, epochs: int, environment: dict[str, str]) -> dict[str, Any]:
    """The job that `kastor run` makes of a script."""
    replicas = f"{shape.fewest}-{shape.most}" if shape.most > shape.fewest else str(shape.most)
    batch = f"{kind.initial}-{kind.most if shape.adapts else kind.initial}"
    call = [KASTOR, "run", "--name", job.name, "--replicas", replicas, "--batch", batch, "--dry-run", "-o", "json"]
    call += ["--", "python", f"{job.kind}.py", "--epochs", str(epochs)]
    made = subprocess.run(call, env=environment, cwd=_SCRIPTS, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(made.stdout)
    return found


def folder_of(out: Path, order: int, under: str) -> Path:
    """Returns the folder of a run."""
    return out / f"{order}-{under}"
