"""Training by real processes that come, go and die under a scripted operator."""

from __future__ import annotations

import math
import random
import shutil
import time
from typing import Any

import numpy as np
import pytest
from conftest import Cluster
from pods import ForkServers
from step_records import EXAMPLES, checked_steps

pytest.importorskip("torch")

from torch.utils.data import WeightedRandomSampler

from kastor.torch import Stream
from kastor.torch.order import order_by

pytestmark = pytest.mark.integration


def check_steps(cluster: Cluster) -> dict[int, list[dict[str, Any]]]:
    """Checks what the scripts themselves wrote down."""
    return checked_steps(line for pod in cluster.pods for line in cluster.lines(pod))


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


@pytest.mark.never_retried
@pytest.mark.nightly  # test_examples compares a training that changes its size with a plain one.
def test_reaches_the_same_loss_whatever_the_replicas(
    tmp_path_factory: pytest.TempPathFactory, fork_servers: ForkServers
) -> None:
    options: dict[str, Any] = {"epochs": 4, "init_seed": 5}
    losses = []
    for plan in ("one", "two", "changing"):
        each = Cluster(tmp_path_factory.mktemp(plan), fork_servers)
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
    options: dict[str, Any] = {"epochs": 6, "sums": True}
    began = time.monotonic()
    cluster.start("a", "b", **options)
    cluster.ready("b")
    cluster.want(["a"], 32)
    cluster.trained("a", 20)
    cluster.want(["a", "b"], 16)
    cluster.trained("a")
    cluster.want(["a", "b"], 12, 1)
    cluster.trained("b")
    # Told now and then alone, and of two replicas.
    cluster.wait("the slowest is told", lambda: any("slowest" in report for report in cluster.operator.reports))
    cluster.want(["a"], 64)
    assert cluster.ends("b") == 0
    assert cluster.outcome("b")["kind"] == "LEFT"
    cluster.trained("a")

    outcome = cluster.completed()
    steps = check_steps(cluster)
    check_end(cluster, outcome)
    assert {lines[0]["replicas"] for lines in steps.values()} == {1, 2}
    assert {len(lines[0]["examples"]) for lines in steps.values()} == {32, 16, 24, 64}
    # A sum of the script's after a step is one over its members, also where they change after it.
    assert all(line["sum"] == line["replicas"] for lines in steps.values() for line in lines)
    assert "of some" not in cluster.log("a")
    changes = [(s["replicasBefore"], s["replicasAfter"], s["cause"]) for s in cluster.operator.switches()]
    assert changes == [(0, 1, "START"), (1, 2, "RESCALE"), (2, 2, "RESCALE"), (2, 1, "RESCALE")]
    assert sum(s["pauseSeconds"] for s in cluster.operator.switches()) < time.monotonic() - began
    last = cluster.operator.reports[-1]
    assert last["gradient"]["initialBatch"] == 32
    assert last["learningRate"] > 0
    assert last["checkpoint"]["step"] == outcome["progress"]["step"]
    profiles = [p for report in cluster.operator.reports for p in report["profiles"]]
    assert {(p["replicas"], p["atomicBatchSize"]) for p in profiles} >= {(1, 32), (2, 16), (2, 12), (1, 64)}
    assert any("trainingLoss" in report for report in cluster.operator.reports)
    assert "EVALUATE" in cluster.operator.doings["a"]
    assert cluster.operator.starts["a"].startswith("INITIAL,")
    assert cluster.operator.starts["b"].startswith("PEERS,")


def test_replicas_that_a_script_seeds_alike_draw_other_random_numbers(cluster: Cluster) -> None:
    cluster.start("a", "b", epochs=1, init_seed=5)
    cluster.ready("a", "b")
    cluster.want(["a", "b"], 16)

    outcome = cluster.completed()
    steps = check_steps(cluster)
    assert outcome["lostOrRepeatedExamples"] == 0
    for lines in steps.values():
        assert all(mine != others for mine, others in zip(lines[0]["noise"], lines[1]["noise"], strict=True))
    # Those of rank 0 are what the script drew without a rehearsal.
    generator = random.Random(5)
    numpy = np.random.RandomState(5)
    for step, line in enumerate(cluster.lines("a")):
        assert line["step"] == step
        assert line["noise"][:2] == [generator.random(), numpy.random_sample()]


@pytest.mark.never_retried
@pytest.mark.parametrize(
    "point",
    [
        "body",
        pytest.param("before STEP", marks=pytest.mark.nightly),
        pytest.param("after STEP", marks=pytest.mark.nightly),
        "before JOIN",
        pytest.param("after JOIN", marks=pytest.mark.nightly),
    ],
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


@pytest.mark.never_retried
def test_survives_a_kill_in_a_sum_between_two_passes(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 4, "sums_each_pass": True}
    cluster.start("a", **options)
    cluster.start("b", fault={"point": "between passes", "step": 20}, **options)
    cluster.ready("a", "b")
    cluster.operator.want(["a", "b"], 8, 1)
    assert cluster.ends("b") == -9
    cluster.want(["a"], 16, 1)

    outcome = cluster.completed()
    check_steps(cluster)
    check_end(cluster, outcome)
    assert "FAILURE" in [s["cause"] for s in cluster.operator.switches()]


@pytest.mark.never_retried
def test_keeps_the_meaning_of_a_weighted_sampler_after_a_kill(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 8, "weighted": True}
    cluster.start("a", **options)
    cluster.start("b", fault={"point": "body", "step": 20}, **options)
    cluster.ready("a", "b")
    cluster.operator.want(["a", "b"], 16)
    assert cluster.ends("b") == -9
    cluster.want(["a"], 64)

    outcome = cluster.completed()
    check_end(cluster, outcome)
    half = EXAMPLES // 2
    sampler = WeightedRandomSampler([1.0] * half + [4.0] * half, num_samples=half)
    order = order_by(sampler, range(EXAMPLES), shuffle=True, seed=0)
    steps = checked_steps((line for pod in cluster.pods for line in cluster.lines(pod)), order)
    assert {lines[0]["replicas"] for lines in steps.values()} == {1, 2}
    trained = [example for lines in steps.values() for line in lines for example in line["examples"]]
    assert len(trained) > 7 * half
    assert sum(example >= half for example in trained) / len(trained) == pytest.approx(0.8, abs=0.03)


@pytest.mark.never_retried
def test_trains_on_each_example_of_a_stream_once_after_a_kill(cluster: Cluster) -> None:
    lengths = [700, 148, 1200]
    options: dict[str, Any] = {"epochs": 4, "shards": lengths, "workers": 1}
    cluster.start("a", "c", **options)
    cluster.start("b", fault={"point": "body", "step": 25}, **options)
    cluster.ready("a", "b", "c")
    cluster.operator.want(["a", "b"], 16)
    assert cluster.ends("b") == -9
    cluster.want(["a", "c"], 16)
    outcome = cluster.completed()
    check_end(cluster, outcome)
    order = order_by(None, Stream(lambda shard: range(lengths[shard]), lengths), shuffle=True, seed=0)
    steps = checked_steps((line for pod in cluster.pods for line in cluster.lines(pod)), order)
    assert sum(len(line["examples"]) for lines in steps.values() for line in lines) > 3 * EXAMPLES


@pytest.mark.never_retried
@pytest.mark.nightly  # test_alone.py leaves epochs in the gate.
def test_leaves_epochs_with_all_replicas_and_after_a_kill(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 8, "leaves": 0.5}
    cluster.start("a", "c", **options)
    cluster.start("b", fault={"point": "body", "step": 50}, **options)
    cluster.ready("a", "b", "c")
    cluster.operator.want(["a", "b"], 16)
    assert cluster.ends("b") == -9
    cluster.want(["a", "c"], 16)
    outcome = cluster.completed()
    check_end(cluster, outcome)
    steps = check_steps(cluster)
    # Half of each of the epochs' 64 steps.
    assert len(steps) == pytest.approx(8 * 32, abs=2)
    assert "replicas differ" not in cluster.log("a") + cluster.log("c")


@pytest.mark.never_retried
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


@pytest.mark.never_retried
def test_survives_two_deaths_at_once(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 4}
    cluster.start("a", **options)
    cluster.start("b", "c", fault={"point": "before STEP", "step": 15}, **options)
    cluster.want(["a", "b", "c"], 12)
    outcome = cluster.completed()
    assert (cluster.ended["b"], cluster.ended["c"]) == (-9, -9)
    check_steps(cluster)
    check_end(cluster, outcome)


@pytest.mark.never_retried
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


@pytest.mark.never_retried
def test_begins_with_the_model_of_another_job_and_goes_on_from_its_own_checkpoint(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 4}
    others = cluster.folder / "others"
    cluster.variables = {"KASTOR_CHECKPOINT_DIR": str(others), "KASTOR_JOB_UID": "uid-other"}
    cluster.start("other", **options)
    cluster.want(["other"], 32)
    cluster.trained("other", 80)
    cluster.operator.stop()
    assert cluster.ends("other") == 0
    last = [report["trainingLoss"] for report in cluster.operator.reports if report.get("trainingLoss")][-1]
    assert len(list(others.glob("step-*.kpt"))) > 0

    cluster.spec["checkpoint"]["warmStart"] = {"job": "other"}
    cluster.variables = {"KASTOR_WARM_START_DIR": str(others), "KASTOR_WARM_START_UID": "uid-other"}
    reports = len(cluster.operator.reports)
    cluster.start("a", "b", **options)
    cluster.want(["a", "b"], 16)
    cluster.trained("a", 40)
    assert cluster.lines("a")[0]["step"] == 0
    assert "takes the model of job other at step" in cluster.log("a") + cluster.log("b")
    first = next(r["trainingLoss"] for r in cluster.operator.reports[reports:] if r.get("trainingLoss"))
    # Ten classes: a fresh model has a loss of about log(10).
    assert max(first, last) < 0.5 * math.log(10)
    shutil.rmtree(others)
    for pod in ("a", "b"):
        cluster.pods[pod].kill()
        cluster.ends(pod)

    cluster.start("c", **options)
    cluster.want(["c"], 32)
    cluster.wait("c trains", lambda: cluster.lines("c"))
    assert cluster.lines("c")[0]["step"] > 0
    outcome = cluster.completed()
    checked_steps(line for pod in "abc" for line in cluster.lines(pod))
    check_end(cluster, outcome)


@pytest.mark.parametrize(
    ("variables", "step", "message"),
    [
        ({"KASTOR_WARM_START_PROBLEM": "there is no such TrainingJob"}, None, "taken: there is no such TrainingJob."),
        ({"KASTOR_WARM_START_DIR": "others"}, None, "taken: it has saved none yet."),
        ({"KASTOR_WARM_START_DIR": "others"}, 7, "taken: it has no checkpoint of step 7 but of no step at all."),
    ],
)
def test_ends_with_the_reason_where_another_jobs_model_cannot_be_had(
    cluster: Cluster, variables: dict[str, str], step: int | None, message: str
) -> None:
    cluster.spec["checkpoint"]["warmStart"] = {"job": "other"} if step is None else {"job": "other", "step": step}
    cluster.variables = {
        name: str(cluster.folder / value) if name.endswith("_DIR") else value for name, value in variables.items()
    }
    cluster.start("a", epochs=1)
    cluster.operator.want(["a"], 32)
    assert cluster.ends("a") == 64
    assert cluster.outcome("a")["kind"] == "FAILED_PERMANENTLY"
    assert (
        f"spec.checkpoint.warmStart: the parameters of job other cannot be {message}" in cluster.outcome("a")["message"]
    )


@pytest.mark.never_retried
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


@pytest.mark.never_retried
@pytest.mark.parametrize("kind", ["workers", "adam", "scaler", pytest.param("compile", marks=pytest.mark.nightly)])
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


@pytest.mark.never_retried
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


@pytest.mark.never_retried
def test_reports_what_the_script_logs_on_rank_0(cluster: Cluster) -> None:
    cluster.start("a", "b", epochs=2)
    cluster.want(["a", "b"], 16)
    cluster.trained("a", 3)
    cluster.want(["b"], 32)
    outcome = cluster.completed()
    check_end(cluster, outcome)
    told = [(report["pod"], report["scalars"]) for report in cluster.operator.reports if "scalars" in report]
    assert {pod for pod, _ in told} == {"a", "b"}
    accuracies = [scalars["accuracy"] for _, scalars in told if "accuracy" in scalars]
    assert len(accuracies) >= 1
    assert accuracies[-1] == pytest.approx(outcome["metric"], abs=0.05)
    assert any(0 <= scalars.get("batch/first", -1) < EXAMPLES for _, scalars in told)


@pytest.mark.never_retried
def test_leaves_a_member_behind_that_hangs(cluster: Cluster) -> None:
    options: dict[str, Any] = {"epochs": 3}
    cluster.start("a", **options)
    cluster.start("b", fault={"point": "body", "step": 10, "hang": 3600}, **options)
    cluster.want(["a", "b"], 16)
    cluster.wait("a waits for b", lambda: cluster.operator.states["a"].get("waiting") == "true")
    # As the operator's hang watch does: the one that does not wait is replaced.
    cluster.pods["b"].kill()
    outcome = cluster.completed()
    check_steps(cluster)
    check_end(cluster, outcome)


@pytest.mark.never_retried
@pytest.mark.parametrize(("most", "batch", "rehearses"), [(20, 32, True), (40, 48, False)])
def test_a_batch_that_does_not_fit_is_told_and_the_others_go_on(
    cluster: Cluster, most: int, batch: int, rehearses: bool
) -> None:
    cluster.start("a", epochs=3, most=most)
    if not rehearses:
        cluster.operator.want(["a"], batch)
    assert cluster.ends("a") == 1
    outcome = cluster.outcome("a")
    assert (outcome["kind"], outcome["outOfMemoryAt"]) == ("FAILED", batch)
    assert outcome["message"].startswith(f"Memory ran out at {batch} examples a pass: the next try has fewer.")
    assert "goodput.batchSize.perDevice.max" in outcome["message"]
    assert "DefaultCPUAllocator" in outcome["message"]

    # As the operator does: a smaller batch, which new replicas find in their spec.
    cluster.spec["goodput"]["batchSize"]["perDevice"]["max"] = batch // 2
    cluster.start("b", epochs=3, most=most)
    cluster.want(["b"], batch // 2, 1)
    outcome = cluster.completed()
    check_end(cluster, outcome)
    assert "outOfMemoryAt" not in outcome


def test_trains_on_and_says_why_a_checkpoint_is_not_saved(cluster: Cluster) -> None:
    def told() -> str | None:
        return cluster.operator.reports[-1].get("unsaved") if cluster.operator.reports else None

    cluster.start("a", epochs=1_000)
    cluster.want(["a"], 32)
    folder, away = cluster.folder / "checkpoints", cluster.folder / "away"
    cluster.wait("a checkpoint is saved", lambda: folder.is_dir() and any(folder.iterdir()))
    assert told() is None
    folder.rename(away)
    folder.touch()
    cluster.wait("a says that one is not", lambda: told() is not None)
    cluster.trained("a")
    folder.unlink()
    away.rename(folder)
    cluster.wait("a says so no more", lambda: told() is None)
    assert cluster.operator.refusals == []


def test_an_older_operator_is_told_of_memory_by_the_message_alone(cluster: Cluster) -> None:
    cluster.variables["KASTOR_PROTOCOL"] = "1"
    cluster.start("a", most=20)
    assert cluster.ends("a") == 1
    outcome = cluster.outcome("a")
    assert "outOfMemoryAt" not in outcome
    assert "Memory ran out at 32 examples a pass" in outcome["message"]
    assert "the operator speaks version 1 of the agent protocol, this client 2" in cluster.log("a")


def test_memory_that_runs_out_outside_of_steps_is_no_matter_of_the_batch(cluster: Cluster) -> None:
    cluster.start("a", epochs=3, evaluates_too_much=True)
    cluster.want(["a"], 32)
    (cluster.folder / "hurry").touch()
    assert cluster.ends("a") == 1
    outcome = cluster.outcome("a")
    assert "outOfMemoryAt" not in outcome
    assert outcome["message"].startswith("Memory ran out outside of a step")
