"""Scripts of frameworks, elastic by the same few lines."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest
from conftest import Cluster
from pods import HERE, python_path

pytest.importorskip("torch")
pytestmark = [pytest.mark.integration, pytest.mark.never_retried]


@pytest.mark.parametrize("framework", ["lightning", pytest.param("transformers", marks=pytest.mark.nightly)])
def test_a_framework_grows_shrinks_and_survives_a_kill(cluster: Cluster, framework: str) -> None:
    needed = {"lightning": "lightning", "transformers": "accelerate"}[framework]
    if importlib.util.find_spec(needed) is None or importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    script = f"{framework}_script.py"
    cluster.start("a", "b", "c", script=script)
    cluster.ready("a", "b", "c")
    cluster.want(["a"], 32)
    cluster.trained("a", 8)
    cluster.want(["a", "b"], 16)
    cluster.trained("a", 8)
    cluster.want(["a", "b", "c"], 12, 1)
    cluster.trained("a", 8)
    cluster.want(["a", "b"], 12, 1)
    assert cluster.ends("c") == 0
    cluster.pods["b"].kill()
    cluster.ends("b")

    outcome = cluster.completed()
    assert outcome["kind"] == "COMPLETED", cluster.logs()
    assert outcome["lostOrRepeatedExamples"] == 0
    assert outcome["metric"] > 0.6, cluster.logs()
    assert cluster.operator.refusals == []
    causes = [s["cause"] for s in cluster.operator.switches()]
    assert causes[:4] == ["START", "RESCALE", "RESCALE", "RESCALE"]
    assert "FAILURE" in causes
    if framework == "lightning":
        assert '{"epochs": [0, 1, 2, 3]}' in cluster.log("a")


@pytest.mark.parametrize(
    ("framework", "hooks"),
    [
        pytest.param("lightning", {"epochs": 1}, marks=pytest.mark.nightly, id="lightning-one epoch"),
        pytest.param("lightning", {"epochs": 3}, id="lightning-three epochs"),
        pytest.param(
            *("lightning", {"epochs": 2, "interval": 0.25}), marks=pytest.mark.nightly, id="lightning-four an epoch"
        ),
        pytest.param("lightning", {"epochs": 8, "patience": 2}, id="lightning-early stopping"),
        pytest.param("transformers", {"epochs": 1}, marks=pytest.mark.nightly, id="transformers-one epoch"),
        pytest.param("transformers", {"epochs": 1.5, "accumulation": 4}, id="transformers-one and a half"),
        pytest.param("transformers", {"epochs": 5, "best": 2}, id="transformers-the best of five epochs"),
        pytest.param(
            *("transformers", {"epochs": 2, "every": "steps", "best": 3}),
            marks=pytest.mark.nightly,
            id="transformers-the best of some steps",
        ),
        pytest.param("transformers", {"epochs": 3}, marks=pytest.mark.nightly, id="transformers-three epochs"),
    ],
)
def test_callbacks_come_as_in_the_plain_run(cluster: Cluster, framework: str, hooks: dict[str, Any]) -> None:
    pytest.importorskip(framework)
    environment = {**os.environ, "PYTHONPATH": python_path(), "TMPDIR": str(cluster.folder)}
    environment["HOOKS"] = json.dumps({**hooks, "elastic": False})
    script = HERE / "scripts" / f"{framework}_hooks.py"
    plain = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)

    cluster.variables["HOOKS"] = json.dumps(hooks)
    cluster.start("a", "b", script=script.name)
    cluster.ready("a", "b")
    cluster.want(["a"], 32)
    cluster.trained("a", 3)
    cluster.want(["a", "b"], 16)
    cluster.trained("b", 3)
    cluster.want(["a"], 32)
    assert cluster.ends("b") == 0
    outcome = cluster.completed()

    assert outcome["kind"] == "COMPLETED", cluster.logs()
    assert outcome["lostOrRepeatedExamples"] == 0
    assert came(cluster.log("a")) == came(plain.stdout)


def test_a_replica_that_joins_at_the_very_end_of_an_epoch_evaluates_with_the_others(cluster: Cluster) -> None:
    pytest.importorskip("transformers")
    cluster.variables["HOOKS"] = json.dumps({"epochs": 3, "best": 2, "joined_at": 15})
    cluster.start("a", "b", script="transformers_hooks.py")
    cluster.ready("a", "b")
    cluster.want(["a"], 32)
    # In the last of the 16 steps of the first epoch the first replica waits until it knows of the second one.
    cluster.wait("it waits", lambda: cluster.operator.step("a") == 15)
    cluster.want(["a", "b"], 16)
    outcome = cluster.completed()
    assert outcome["kind"] == "COMPLETED", cluster.logs()
    assert outcome["lostOrRepeatedExamples"] == 0
    for pod in ("a", "b"):
        assert "received the state of step 16" in cluster.log("b")
        events = came(cluster.log(pod))
        assert [each for each in events if each.startswith(("evaluates", "saves"))] == [
            line for n in (1, 2, 3) for line in (f"evaluates at epoch {n} of 48 steps", f"saves at epoch {n}")
        ]
        assert events[-2:] == ["checkpoint-32: the same model", "['checkpoint-32', 'checkpoint-48']"]


def test_a_checkpoint_is_whole_where_the_first_replica_dies_amid_it(cluster: Cluster) -> None:
    pytest.importorskip("transformers")
    cluster.variables["HOOKS"] = json.dumps({"epochs": 2, "best": 1, "dies": "a"})
    cluster.start("a", "b", "c", script="transformers_hooks.py")
    cluster.ready("a", "b", "c")
    cluster.want(["a", "b"], 16)
    cluster.trained("b", 2)
    # It comes amid an epoch and knows by its end which one was the best.
    cluster.ends("a")
    cluster.want(["b"], 32)
    cluster.trained("b", 2)
    cluster.want(["b", "c"], 16)
    outcome = cluster.completed()
    assert outcome["kind"] == "COMPLETED", cluster.logs()
    assert outcome["lostOrRepeatedExamples"] == 0
    for pod in ("b", "c"):
        *_, best, kept = came(cluster.log(pod))
        assert best == "checkpoint-16: the same model"
        assert kept == "['checkpoint-16', 'checkpoint-32']"


def came(output: str) -> list[str]:
    """Callbacks that a run of such a script printed."""
    (found,) = re.findall(r'\{"came": (\[.*\])\}', output)
    hooks: list[str] = json.loads(found)
    return hooks
