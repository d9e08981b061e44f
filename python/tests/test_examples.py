"""Examples of PyTorch jobs: as near to plain scripts as is promised, and as good when their size changes."""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from local_kastor import PATIENCE_SECONDS, ROOT, LocalKastor, Started, sizes

from kastor.checkpoint import CheckpointFolder

torch = pytest.importorskip("torch")
load_file = pytest.importorskip("safetensors.torch").load_file

EXAMPLES = ROOT / "examples" / "pytorch"
MOST_CHANGED_LINES = 10


@dataclass(frozen=True)
class Example:
    """Example, and what may be asked of it.

    ``metric`` is how it prints its metric, ``learned`` the worst value that still shows that it learns, and ``noise``
    by how much two runs may differ: their seeds alone make that difference. ``options`` are those of ``kastor run``.
    """

    name: str
    batch: int
    short: tuple[str, ...]
    metric: str
    learned: float
    noise: float
    alone: str = "plain/{}.py"
    options: tuple[str, ...] = ()

    def learns(self, value: float) -> bool:
        """Whether a metric shows that it learns."""
        return value >= self.learned if self.metric == "accuracy" else value <= self.learned

    def found(self, output: str) -> float:
        """Metric that the script printed last, to four places."""
        return float(re.findall(rf"{self.metric} (\d+\.\d{{4}})\n", output)[-1])


# A guess by chance has an accuracy of 0.1; a model of pairs of characters has 3.1 bits per character.
SCRIPTS = [
    Example("cnn", 64, ("--epochs", "6"), "accuracy", 0.85, 0.05),
    Example("gpt", 16, ("--epochs", "2"), "bits per character", 0.7, 0.06),
    Example("lightning_cnn", 64, ("--epochs", "6"), "accuracy", 0.85, 0.05),
    Example("transformers_finetune", 16, ("--epochs", "2"), "bits per character", 1.5, 0.15),
    # Of a generator that has learned nothing it is about 1.
    Example("gan", 128, ("--epochs", "40"), "distance", 0.1, 0.08, options=("--no-accumulation",)),
    # The plain one needs AdaptDL, whose newest release works with PyTorch of 2020 alone.
    Example("adaptdl_mnist", 32, ("--epochs", "12"), "accuracy", 0.9, 0.03, alone="{}.py"),
]
BY_NAME = pytest.mark.parametrize("example", SCRIPTS, ids=lambda example: example.name)


@BY_NAME
def test_differs_from_the_plain_script_in_few_lines(example: Example) -> None:
    plain, elastic = (
        [line for line in (EXAMPLES / file).read_text().splitlines() if line.strip()]
        for file in (f"plain/{example.name}.py", f"{example.name}.py")
    )
    changes = [line for line in difflib.ndiff(plain, elastic) if line[0] in "+-"]
    added = [line for line in changes if line[0] == "+"]
    taken = [line for line in changes if line[0] == "-"]
    assert any("kastor" in line for line in added), changes
    assert max(len(added), len(taken)) <= MOST_CHANGED_LINES, "\n".join(changes)


def test_every_example_is_tested() -> None:
    names = {example.name for example in SCRIPTS}
    assert {file.stem for file in EXAMPLES.glob("*.py")} - {"example_data", "mlflow_mlp"} == names
    assert {file.stem for file in (EXAMPLES / "plain").glob("*.py")} - {"example_data"} == names
    assert {file.stem for file in EXAMPLES.glob("*.yaml")} == names


MLFLOW = """
import json, os, types

open_run = None


def tell(*what):
    with open(os.environ["TOLD"], "a") as file:
        print(json.dumps(what), file=file)


def search_runs(filter_string, output_format):
    tell("search", filter_string, output_format)
    found = os.environ.get("FOUND")
    return [types.SimpleNamespace(info=types.SimpleNamespace(run_id=found))] if found else []


def start_run(**arguments):
    global open_run
    open_run = arguments
    tell("start", arguments)


def active_run():
    return open_run


def log_params(params):
    tell("params", params)


def log_metrics(metrics, step):
    tell("metrics", metrics, step)
"""


@pytest.mark.integration
@pytest.mark.parametrize("found", ["", "4711"])
def test_a_run_of_mlflow_goes_on_where_there_is_one(found: str, tmp_path: Path) -> None:
    (tmp_path / "mlflow.py").write_text(MLFLOW)
    path = os.pathsep.join([str(tmp_path), str(ROOT / "python" / "src"), str(EXAMPLES)])
    variables = {"TOLD": str(tmp_path / "told"), "FOUND": found, "KASTOR_JOB_UID": "a-b", "PYTHONPATH": path}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KASTOR_")} | variables
    command = [sys.executable, str(EXAMPLES / "mlflow_mlp.py"), "--epochs", "2", "--examples", "1000"]
    subprocess.run(command, env=environment, check=True, timeout=PATIENCE_SECONDS)

    told = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert told[0] == ["search", "tags.kastor_job = 'a-b'", "list"]
    begun = [["start", {"run_id": "4711"}]]
    if not found:
        begun = [["start", {"run_name": None, "tags": {"kastor_job": "a-b"}}], told[2]]
        assert told[2] == ["params", {"epochs": 2, "examples": 1000, "seed": 0}]
    assert told[1 : 1 + len(begun)] == begun
    logged = told[1 + len(begun) :]
    assert {kind for kind, *_ in logged} == {"metrics"}
    assert [(step, list(values)) for _, values, step in logged] == [
        *((20, ["loss"]), (32, ["accuracy"])),
        *((40, ["loss"]), (60, ["loss"]), (63, ["accuracy"])),
    ]


@pytest.mark.integration
@pytest.mark.timeout(PATIENCE_SECONDS)
@BY_NAME
def test_manifest_is_what_kastor_run_makes(cluster_of_all: LocalKastor, example: Example) -> None:
    text = (EXAMPLES / f"{example.name}.yaml").read_text()
    (line,) = re.findall(r"^# kastor (run .* --dry-run .*)$", text, re.MULTILINE)
    made = cluster_of_all.command(*shlex.split(line))
    assert made.returncode == 0, made.stderr
    assert text.partition("apiVersion:")[2] == made.stdout.partition("apiVersion:")[2]
    assert shlex.split(line)[-2:] == ["python", f"{example.name}.py"]


@pytest.mark.integration
@pytest.mark.timeout(4 * PATIENCE_SECONDS)
@pytest.mark.parametrize(
    "example",
    [pytest.param(each, marks=[pytest.mark.nightly] if each.name != "cnn" else []) for each in SCRIPTS],
    ids=lambda example: example.name,
)
def test_trains_as_well_when_its_size_changes(
    kastor: LocalKastor, example: Example, example_seed: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    whole = request.config.getoption("--whole-examples") > 0
    options = [*(() if whole else example.short), "--seed", str(example_seed)]
    name = f"{example.name.replace('_', '-')}-{example_seed}"

    def script(file: str) -> list[str]:
        return [sys.executable, str(EXAMPLES / file.format(example.name)), *options]

    command = ["--name", name, "--replicas", "1-2", "--batch", str(example.batch), "-e", "OMP_NUM_THREADS"]
    command += example.options
    started = [kastor.start(name, "run", *command, "--", *script("{}.py"))]
    try:
        # A job that is resized before its first step counts as one that came back from a checkpoint.
        started[0].wait_until("it trains", lambda: sizes(started[0].said()))
        for replicas in (1, 2, 1):
            kastor.pin(name, replicas, started[0])
        # Not before, as two processors are enough for two.
        started.append(Started(script(example.alone), kastor.environment, tmp_path / "alone"))
        for each in started:
            assert each.ends() == 0, each.said()
    finally:
        for each in started:
            each.end()
    run, alone = (each.said() for each in started)

    status = kastor.job(name)["status"]
    training = status["training"]
    assert sizes(run)[-3:] == [1, 2, 1]
    assert (status.get("restarts") or 0, status.get("failuresSinceProgress") or 0) == (0, 0)
    assert training["lostOrRepeatedExamples"] == 0
    assert re.search(r"INFO kastor: completed \d+ steps.*, 0 examples lost or repeated", run), run
    elastic, plain = example.found(run), example.found(alone)
    if "finalMetric" in training:
        assert training["finalMetric"] == pytest.approx(elastic, abs=1e-4)
    else:
        assert example.name == "adaptdl_mnist", "a script for AdaptDL has no finish()"
    row = {"example": example.name, "seed": example_seed, "alone": plain, "elastic": elastic, **_figures(training)}
    check_export(kastor, name, tmp_path / "model.safetensors")
    if whole:
        with (ROOT / "python" / "target" / "examples.jsonl").open("a") as file:
            print(json.dumps(row), file=file)
    assert example.learns(plain) and example.learns(elastic), row
    assert abs(elastic - plain) <= example.noise, row


def check_export(kastor: LocalKastor, name: str, file: Path) -> None:
    """Checks that a file of ``kastor export`` has the model of the newest checkpoint, to the bit."""
    done = kastor.command("export", name, "-o", str(file))
    assert done.returncode == 0, done.stderr
    uid = kastor.job(name)["metadata"]["uid"]
    (folder,) = kastor.folder.rglob(f"{name}-{uid}")
    saved = CheckpointFolder(folder, uid, 3).newest()
    assert saved is not None
    form = dict(dict(saved.form["d"])["parts"]["d"])["model"]["d"]
    found = load_file(file)
    assert sorted(found) == sorted(entry for entry, _ in form)
    for entry, place in form:
        there = found[entry].contiguous().reshape(-1).view(torch.uint8)
        assert there.numpy().tobytes() == bytes(saved.blocks[place["x"]].data), entry


def _figures(training: dict[str, Any]) -> dict[str, Any]:
    names = ("step", "examples", "grows", "shrinks", "medianPauseMillis", "minGlobalBatch", "maxGlobalBatch")
    return {name: training.get(name) for name in names}
