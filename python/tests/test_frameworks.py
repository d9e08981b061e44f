"""Scripts of frameworks, elastic by the same few lines."""

from __future__ import annotations

import importlib.util

import pytest
from conftest import Cluster

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
