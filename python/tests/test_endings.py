"""Ends of a replica: each leaves a termination message and an exit status that the operator understands."""

from __future__ import annotations

import pytest
from conftest import Cluster

pytest.importorskip("torch")
pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    ("how", "status", "kind", "message"),
    [
        ("forgets to finish", 0, "COMPLETED", "completed 100 steps"),
        ("ends early", 1, "FAILED", "The script ended at 10 of 100 scale-invariant steps. Call job.finish()"),
        ("raises", 1, "FAILED", "ValueError: the disk with the data is gone"),
        ("diverges", 64, "FAILED_PERMANENTLY", "Training diverged at step 10"),
        ("fetches ahead", 64, "FAILED_PERMANENTLY", "switch off prefetching, and do not skip batches."),
        ("skips a step", 64, "FAILED_PERMANENTLY", "without optimizer.step(). Call it once for each batch"),
        ("leaves at once", 64, "FAILED_PERMANENTLY", "was left at its first turn, which is a rehearsal"),
        ("wrong batch", 64, "FAILED_PERMANENTLY", "batch_size=16, but goodput.batchSize.initial of the job is 32"),
    ],
)
def test_tells_how_it_ended(cluster: Cluster, how: str, status: int, kind: str, message: str) -> None:
    # What ends with its interpreter has one of its own.
    cluster.start("a", script="endings.py", how=how, fork=kind != "COMPLETED")
    cluster.operator.want(["a"], 32)
    assert cluster.ends("a") == status, cluster.logs()
    outcome = cluster.outcome("a")
    assert (outcome["kind"], message in outcome["message"]) == (kind, True), outcome
    assert cluster.operator.refusals == []
    if kind == "COMPLETED":
        assert cluster.operator.outcome == outcome
        assert "metric" not in outcome


@pytest.mark.parametrize("observed", [400, 0])
def test_a_replica_whose_gradient_alone_is_not_finite_ends_and_the_others_train_on(
    cluster: Cluster, observed: int
) -> None:
    cluster.start("a", "b", script="endings.py", how="one replica diverges", observed_each_step=observed, fork=False)
    cluster.operator.want(["a", "b"], 16)
    assert cluster.ends("b") == 1, cluster.logs()
    outcome = cluster.outcome("b")
    assert outcome["kind"] == "FAILED"
    assert "The gradient of this replica is not finite at step 10, that of the other 1" in outcome["message"]
    cluster.operator.want(["a"], 32)
    assert cluster.ends("a") == 0, cluster.logs()
    # Until the operator has heard of it, the one that is left takes steps of half the batch.
    assert cluster.outcome("a")["kind"] == "COMPLETED"
    assert cluster.outcome("a")["lostOrRepeatedExamples"] == 0


@pytest.mark.never_retried
def test_tells_that_it_cannot_start(cluster: Cluster) -> None:
    (cluster.folder / "ring").write_bytes(b"hunter2")
    cluster.start("a", script="endings.py", how="caught")
    assert cluster.ends("a") == 64, cluster.logs()
    outcome = cluster.outcome("a")
    assert outcome["kind"] == "FAILED_PERMANENTLY"
    assert "KASTOR_RING_SECRET_FILE holds 7 bytes" in outcome["message"]
    assert "hunter2" not in cluster.log("a") + outcome["message"]


@pytest.mark.never_retried
def test_trains_on_while_its_token_is_refused(cluster: Cluster) -> None:
    cluster.start("a", "b", epochs=5)
    cluster.want(["a", "b"], 16)
    cluster.trained("a", 10)
    cluster.operator.tokens.update(a=set(), b=set())
    cluster.wait("both are refused", lambda: {r.split(":")[0] for r in cluster.operator.refusals} == {"a", "b"})
    cluster.trained("a", 20)
    for pod in ("a", "b"):
        cluster.wait(f"{pod} says so", lambda pod=pod: "if this lasts, delete the pod" in cluster.log(pod))
        assert "token of" not in cluster.log(pod)
    cluster.operator.tokens.clear()
    outcome = cluster.completed()
    assert (outcome["kind"], outcome["lostOrRepeatedExamples"]) == ("COMPLETED", 0)


@pytest.mark.parametrize(("threads", "own", "used"), [("3", "", 3), ("3", "2", 2)])
def test_computes_with_the_threads_it_is_given(cluster: Cluster, threads: str, own: str, used: int) -> None:
    cluster.variables = {"KASTOR_THREADS": threads, **({"OMP_NUM_THREADS": own} if own else {})}
    cluster.start("a", script="endings.py", how="wrong batch", fork=False)
    assert cluster.ends("a") == 64, cluster.logs()
    assert f"computes with {used} threads" in cluster.log("a")
