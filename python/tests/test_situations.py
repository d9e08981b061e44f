"""Situations of real scripts: they train as in plain PyTorch, and the same on all replicas."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

import pytest
from conftest import Cluster
from pods import HERE

torch: Any = pytest.importorskip("torch")
sys.path.insert(0, str(HERE / "scripts"))

import kastor.torch as kastor  # noqa: E402

situations: Any = importlib.import_module("situations")


@pytest.mark.slow
@pytest.mark.never_retried
@pytest.mark.parametrize("name", situations.SITUATIONS)
def test_one_replica_trains_as_plain_pytorch_to_the_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KASTOR_OPERATOR_URL", raising=False)
    elastic, plain = situations.run(name, kastor.init()), situations.run(name, situations.Plain())
    assert elastic.keys() == plain.keys()
    assert [key for key in plain if not torch.equal(elastic[key], plain[key])] == []


# Of which each trains by other ways of the client; all of them take ten minutes.
APART = [
    "tied weights",
    "parameters that a loss reaches now and then",
    "reentrant gradient checkpointing",
    "a group that is added amid the training",
    "layers that are unfrozen one by one",
    "spectral norm",
    "BatchNorm",
    "a GradScaler",
    "an average of weights",
    "a schedule that follows a metric",
]


@pytest.mark.integration
@pytest.mark.nightly
@pytest.mark.never_retried
@pytest.mark.parametrize("name", APART)
def test_two_replicas_are_equal_to_the_bit(cluster: Cluster, name: str) -> None:
    cluster.spec["goodput"]["batchSize"]["initial"] = situations.BATCH
    cluster.start("a", "b", script="situations.py", name=name)
    cluster.ready("a", "b")
    cluster.want(["a", "b"], situations.BATCH // 2)
    outcome = cluster.completed()
    assert (outcome["kind"], outcome["lostOrRepeatedExamples"]) == ("COMPLETED", 0), cluster.logs()
    digests = [re.findall('"digest": "(.*)"', cluster.log(pod)) for pod in ("a", "b")]
    assert len(digests[0]) == 1, cluster.logs()
    assert digests[0] == digests[1]
