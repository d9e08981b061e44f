"""Replicas are equal, or the job says what differs: whatever a script changes while it trains."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import Cluster

from kastor.errors import UsageError
from kastor.torch.drift import Comparison, Drift
from kastor.torch.trained import Trained, _parameters

pytestmark = pytest.mark.never_retried


def begin(cluster: Cluster, way: str, *pods: str, **options: Any) -> None:
    """Has pods train in some way."""
    cluster.spec["goodput"]["batchSize"] = {"initial": 16, "max": 64, "perDevice": {"min": 1, "max": 64}}
    cluster.start(*pods, script="drifts.py", way=way, **options)
    cluster.ready(*pods)
    cluster.want(list(pods), 16 // len(pods))


def completes(cluster: Cluster) -> dict[str, Any]:
    """What both pods have at the end, where it is the same; no example is lost or repeated."""
    outcome = cluster.completed()
    assert (outcome["kind"], outcome["lostOrRepeatedExamples"]) == ("COMPLETED", 0), cluster.logs()
    (a,), (b,) = cluster.lines("a"), cluster.lines("b")
    assert a == b, cluster.logs()
    return a


@pytest.mark.integration
@pytest.mark.parametrize(
    ("way", "trained"),
    [
        ("unfreezes", 6),
        ("freezes", 4),
        ("swaps", 4),
        ("adds a group", 6),
        ("replaces a module", 6),
        ("replaces all", 6),
    ],
)
def test_what_all_replicas_train_anew_is_reduced_from_that_step_on(cluster: Cluster, way: str, trained: int) -> None:
    begin(cluster, way, "a", "b")
    assert len(completes(cluster)["trained"]) == trained
    assert "step 10 is taken again: " in cluster.log("a")
    assert "replicas differ" not in cluster.log("a")


@pytest.mark.integration
@pytest.mark.parametrize(
    ("way", "what"),
    [
        ("a weight", "model.0.weight"),
        ("a buffer", "model.seen"),
        ("half precision", "optimizer.state.0.momentum_buffer"),
        ("a dropped gradient", "model.0.weight"),
        ("a clipped gradient", "model.0.weight"),
        ("an update by hand", "model.3.weight"),
        ("own rate", "optimizer.param_groups.0.lr"),
    ],
)
def test_drift_is_named_and_repaired(cluster: Cluster, way: str, what: str) -> None:
    begin(cluster, way, "a", "b")
    if way in ("a weight", "a buffer", "half precision", "a dropped gradient"):
        completes(cluster)
    else:
        # It makes them differ again and again.
        cluster.wait("it is named", lambda: all("replicas differ at step" in cluster.log(pod) for pod in ("a", "b")))
    for pod in ("a", "b"):
        (named, *_) = [line for line in cluster.log(pod).splitlines() if "replicas differ at step" in line]
        assert what in named, cluster.logs()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("way", "options", "message"),
    [
        ("unfreezes on one", {}, "Replicas train different parameters. Freeze, unfreeze"),
        ("adds what is not shared", {}, "The optimizer has parameters that the model has not"),
        ("a weight", {"drift": "fail"}, "Replicas differ at step"),
    ],
)
def test_what_cannot_be_equal_ends_the_job_with_the_reason(
    cluster: Cluster, way: str, options: dict[str, Any], message: str
) -> None:
    begin(cluster, way, "a", "b", **options)
    for pod in ("a", "b"):
        assert cluster.ends(pod) == 64, cluster.logs()
        assert cluster.outcome(pod)["kind"] == "FAILED_PERMANENTLY"
        assert message in cluster.outcome(pod)["message"]


@pytest.mark.integration
@pytest.mark.parametrize("way", ["unfreezes", "adds a group"])
def test_a_replica_that_joins_trains_what_the_others_train(cluster: Cluster, way: str) -> None:
    # Long enough for a replica that starts on a slow machine; without pauses once both train.
    options: dict[str, Any] = {"epochs": 150, "hurries": True}
    begin(cluster, way, "a", **options)
    cluster.wait("it has changed", lambda: cluster.operator.step("a") > 12)
    cluster.start("b", script="drifts.py", way=way, **options)
    cluster.ready("b")
    cluster.want(["a", "b"], 8)
    completes(cluster)


def network() -> tuple[torch.nn.Sequential, torch.optim.Optimizer]:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
    return model, torch.optim.SGD(model[1].parameters(), lr=0.1)


def test_what_is_trained_is_taken_over_with_its_groups() -> None:
    model, optimizer = network()
    model[1].bias.requires_grad_(False)
    optimizer.add_param_group({"params": [model[0].weight]})
    trained = Trained(model, optimizer)
    other, its_optimizer = network()
    joined = Trained(other, its_optimizer)
    assert joined.signature != trained.signature
    joined.restore(trained.state())
    assert joined.signature == trained.signature
    assert [p.requires_grad for p in other.parameters()] == [True, True, True, False]
    assert its_optimizer.param_groups[1]["params"] == [other[0].weight]
    its_optimizer.load_state_dict(optimizer.state_dict())
    joined.restore(Trained(*network()).state())
    assert len(its_optimizer.param_groups) == 1


def test_a_look_finds_what_has_changed_and_refuses_what_is_not_shared() -> None:
    model, optimizer = network()
    trained = Trained(model, optimizer)
    trained.settle()
    trained.look()
    assert not trained.changed
    model[0] = torch.nn.Linear(2, 3)
    before = trained.signature
    trained.look()
    # Another tensor of the same name and shape: what is reduced is not what is trained.
    assert (trained.changed, trained.signature) == (True, before)
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.zeros(1))]})
    with pytest.raises(UsageError, match="parameters that the model has not"):
        trained.look()


def test_parameters_are_found_in_the_order_of_the_model() -> None:
    shared = torch.nn.Linear(2, 2)
    model: Any = torch.nn.ModuleDict(
        {"a": torch.nn.Sequential(shared, torch.nn.ReLU()), "b": torch.nn.Linear(2, 1), "c": shared}
    )
    model.register_parameter("none", None)
    model.register_parameter("own", torch.nn.Parameter(torch.zeros(1)))
    model["b"].weight = model["a"][0].bias
    found = _parameters(model)
    assert [id(p) for p in found] == [id(p) for p in model.parameters()]


def test_comparisons_take_no_more_than_their_share_of_the_time() -> None:
    class Slow:
        def digest(self) -> int:
            torch.randn(200, 200).mm(torch.randn(200, 200))
            return 0

    comparison = Comparison(Drift.REPAIR)
    assert comparison.due(100.0, saves=False)
    comparison.take(Slow())  # type: ignore[arg-type]
    # A state with the digest 0 is one, too.
    assert comparison.sent() == [0, 1]
    assert comparison.sent() == [0, 0]
    wait = max(1.0, 200 * comparison._seconds)
    assert not comparison.due(100.0 + 0.99 * wait, saves=False)
    assert comparison.due(100.0 + 0.99 * wait, saves=True)
    assert comparison.due(100.0 + 2 * wait, saves=False)


def test_states_that_differ_again_and_again_are_repaired_a_few_times() -> None:
    comparison = Comparison(Drift.REPAIR)
    equal, different = [[0.0, 7.0], [0.0, 7.0], [0.0, 0.0]], [[0.0, 7.0], [0.0, 8.0]]
    assert not comparison.differ(equal)
    assert comparison.differ(different)
    assert [comparison.repairs() for _ in range(5)] == [True] * 4 + [False]
    assert not comparison.differ(equal)
    assert comparison.repairs()
    assert not Comparison(Drift.FAIL).repairs()
