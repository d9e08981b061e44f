"""Training by real processes that come, go and die under a scripted operator."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from conftest import Cluster

from kastor.sampler import ElasticSampler

pytest.importorskip("torch")
pytestmark = pytest.mark.integration

EXAMPLES = 2048


def check_steps(cluster: Cluster, examples: int = EXAMPLES) -> dict[int, list[dict[str, Any]]]:
    """Checks what the scripts themselves wrote down: each example once, and the same state on all members.

    A step that was redone counts as the youngest generation did it.
    """
    steps: dict[int, list[dict[str, Any]]] = {}
    for pod in cluster.pods:
        for line in cluster.lines(pod):
            known = steps.setdefault(line["step"], [])
            if known and known[0]["generation"] < line["generation"]:
                known.clear()
            if not known or known[0]["generation"] == line["generation"]:
                known.append(line)
    assert sorted(steps) == list(range(len(steps)))
    sampler, cursor = ElasticSampler(examples), 0
    for step in sorted(steps):
        lines = steps[step]
        assert len({line["state"] for line in lines}) == 1, f"states differ after step {step}"
        share = len(lines[0]["examples"])
        replicas = lines[0]["replicas"]
        trained = Counter(i for line in lines for i in line["examples"])
        positions = range(cursor, cursor + share * replicas)
        expected = Counter(int(sampler._permutation(p // examples)[p % examples]) for p in positions)
        assert not trained - expected, f"step {step} repeated examples"
        if len(lines) == replicas:
            assert trained == expected, f"step {step} lost examples"
        cursor += share * replicas
    return steps


def check_end(cluster: Cluster, outcome: dict[str, Any]) -> None:
    """Checks the outcome, and that no report or poll was one that the operator refuses."""
    assert outcome["kind"] == "COMPLETED", cluster.logs()
    assert outcome["lostOrRepeatedExamples"] == 0
    assert outcome["metricName"] == "accuracy"
    assert outcome["metric"] > 0.6, cluster.logs()
    assert cluster.operator.refusals == []
    progress = outcome["progress"]
    assert progress["scaleInvariantSteps"] >= progress["totalScaleInvariantSteps"] > 0


def held_out_loss(outcome: dict[str, Any]) -> float:
    """Loss of held-out data, which the message tells."""
    return float(outcome["message"].split("held_out_loss ")[1].split()[0])


def test_reaches_the_same_loss_whatever_the_replicas(tmp_path_factory: pytest.TempPathFactory) -> None:
    options: dict[str, Any] = {"epochs": 4, "init_seed": 5}
    losses = []
    for plan in ("one", "two", "changing"):
        each = Cluster(tmp_path_factory.mktemp(plan))
        try:
            each.start(*("a" if plan == "one" else "ab"), **options)
            each.want(["a"] if plan == "one" else ["a", "b"], 32 if plan == "one" else 16)
            if plan == "changing":
                each.trained("a", 20)
                each.want(["a"], 64)
            outcome = each.completed()
            check_steps(each)
            losses.append(held_out_loss(outcome))
        finally:
            each.close()
    assert max(losses) < 1.15 * min(losses), losses
    assert max(losses) < 0.5


def test_grows_shrinks_and_changes_the_batch_while_it_trains(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 6}
    cluster.start("a", "b", **options)
    cluster.ready("b")
    cluster.want(["a"], 32)
    cluster.trained("a", 20)
    cluster.want(["a", "b"], 16)
    cluster.trained("a")
    cluster.want(["a", "b"], 12, 1)
    cluster.trained("b")
    cluster.want(["a"], 64)
    assert cluster.ends("b") == 0
    assert cluster.outcome("b")["kind"] == "LEFT"
    cluster.trained("a")

    outcome = cluster.completed()
    steps = check_steps(cluster)
    check_end(cluster, outcome)
    assert {lines[0]["replicas"] for lines in steps.values()} == {1, 2}
    assert {len(lines[0]["examples"]) for lines in steps.values()} == {32, 16, 24, 64}
    changes = [(s["replicasBefore"], s["replicasAfter"], s["cause"]) for s in cluster.operator.switches()]
    assert changes == [(0, 1, "START"), (1, 2, "RESCALE"), (2, 2, "RESCALE"), (2, 1, "RESCALE")]
    assert all(s["pauseSeconds"] < 5 for s in cluster.operator.switches())
    last = cluster.operator.reports[-1]
    assert last["gradient"]["initialBatch"] == 32
    assert last["learningRate"] > 0
    assert last["checkpoint"]["step"] == outcome["progress"]["step"]
    assert any("slowest" in report for report in cluster.operator.reports)
    profiles = [p for report in cluster.operator.reports for p in report["profiles"]]
    assert {(p["replicas"], p["atomicBatchSize"]) for p in profiles} >= {(1, 32), (2, 16), (2, 12), (1, 64)}
    assert any("trainingLoss" in report for report in cluster.operator.reports)
    assert "EVALUATE" in cluster.operator.doings["a"]


@pytest.mark.parametrize(
    "point",
    ["body", "before STEP", "after STEP", "before JOIN", "after JOIN"],
)
def test_survives_a_kill_at_any_point_of_a_step(cluster: Cluster, point: str) -> None:
    options: dict[str, Any] = {"epochs": 5}
    joins = point.endswith("JOIN")
    cluster.start("a", **options)
    cluster.start("b", fault={"point": point, "step": 0 if joins else 20}, **options)
    cluster.start("c", **options)
    cluster.ready("a", "c")
    cluster.operator.want(["a", "b"], 16)
    assert cluster.ends("b") == -9
    cluster.wait("a goes on", lambda: len(cluster.lines("a")) > 30)
    cluster.want(["a", "c"], 16)

    outcome = cluster.completed()
    check_steps(cluster)
    check_end(cluster, outcome)
    if not joins:
        assert "FAILURE" in [s["cause"] for s in cluster.operator.switches()]


def test_survives_the_death_of_the_one_that_sends_its_state(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 4, "width": 600}
    cluster.start("a", fault={"point": "state", "step": 20}, **options)
    cluster.start("b", "c", **options)
    cluster.ready("c")
    cluster.want(["a", "b"], 16)
    cluster.wait("both train", lambda: len(cluster.lines("b")) > 25)
    cluster.operator.want(["a", "b", "c"], 16)
    assert cluster.ends("a") == -9
    outcome = cluster.completed()
    check_steps(cluster)
    check_end(cluster, outcome)


def test_survives_two_deaths_at_once(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 4}
    cluster.start("a", **options)
    cluster.start("b", "c", fault={"point": "before STEP", "step": 15}, **options)
    cluster.want(["a", "b", "c"], 12)
    outcome = cluster.completed()
    assert (cluster.ended["b"], cluster.ended["c"]) == (-9, -9)
    check_steps(cluster)
    check_end(cluster, outcome)


def test_goes_on_from_a_checkpoint_after_a_suspension_and_after_the_death_of_all(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 6}
    cluster.start("a", "b", **options)
    cluster.want(["a", "b"], 16)
    cluster.trained("a", 20)
    cluster.operator.stop()
    assert (cluster.ends("a"), cluster.ends("b")) == (0, 0)
    assert cluster.outcome("a")["kind"] == cluster.outcome("b")["kind"] == "STOPPED"
    stopped = cluster.operator.outcome
    assert stopped is not None and stopped["kind"] == "STOPPED"
    at = stopped["progress"]["step"]
    assert cluster.operator.reports[-1]["checkpoint"]["step"] == at

    cluster.start("c", **options)
    cluster.want(["c"], 32)
    cluster.wait("c trains", lambda: cluster.lines("c"))
    assert cluster.lines("c")[0]["step"] == at
    cluster.trained("c", 60)
    cluster.pods["c"].kill()
    assert cluster.ends("c") == -9

    cluster.start("d", **options)
    cluster.want(["d"], 32)
    cluster.wait("d trains", lambda: cluster.lines("d"))
    assert cluster.lines("d")[0]["step"] > at
    outcome = cluster.completed()
    check_steps(cluster)
    check_end(cluster, outcome)


def test_trains_on_after_sigterm_until_it_is_taken_out(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 4}
    cluster.start("a", "b", **options)
    cluster.want(["a", "b"], 16)
    cluster.trained("b", 10)
    cluster.pods["b"].terminate()
    cluster.trained("b", 10)
    cluster.want(["a"], 32)
    assert cluster.ends("b") == 0
    assert cluster.outcome("b")["kind"] == "LEFT"
    outcome = cluster.completed()
    check_steps(cluster)
    check_end(cluster, outcome)


@pytest.mark.parametrize("kind", ["workers", "adam", "scaler", "compile"])
def test_keeps_other_ways_to_train_elastic(cluster: Cluster, kind: str) -> None:
    options: dict[str, Any] = {"epochs": 5, kind: 2 if kind == "workers" else True}
    cluster.start("a", "b", **options)
    cluster.ready("b")
    cluster.want(["a"], 32)
    cluster.trained("a", 20)
    cluster.want(["a", "b"], 24, 1)
    cluster.trained("b")
    cluster.pods["b"].kill()
    cluster.ends("b")
    outcome = cluster.completed()
    check_steps(cluster)
    check_end(cluster, outcome)


def test_trains_while_the_operator_is_away(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 5}
    cluster.start("a", **options)
    cluster.want(["a"], 32)
    cluster.trained("a", 10)
    cluster.operator.away = True
    before = len(cluster.lines("a"))
    cluster.wait("it trains on", lambda: len(cluster.lines("a")) > before + 100)
    cluster.operator.away = False
    cluster.operator.term = "2"
    outcome = cluster.completed()
    check_steps(cluster)
    check_end(cluster, outcome)
    assert "Bearer" not in cluster.log("a")
    assert "token of" not in cluster.log("a")


def test_leaves_a_member_behind_that_hangs(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 3}
    cluster.start("a", **options)
    cluster.start("b", fault={"point": "body", "step": 10, "hang": 300}, **options)
    cluster.want(["a", "b"], 16)
    cluster.wait("a waits for b", lambda: cluster.operator.states["a"].get("waiting") == "true", 60)
    # As the operator's hang watch does: the one that does not wait is replaced.
    cluster.pods["b"].kill()
    outcome = cluster.completed()
    check_steps(cluster)
    check_end(cluster, outcome)
