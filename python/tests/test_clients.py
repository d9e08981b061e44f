"""Clients of the operator, against a scripted operator over TLS."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_operator import JOB, NAMESPACE, ScriptedOperator, certificate

from kastor.config import Config, JobSpec
from kastor.membership import MembershipClient
from kastor.operator import OFFLINE, OperatorClient, OperatorError
from kastor.protocol import Action, BatchPlan, Cause, Doing, Outcome, OutcomeKind, Phase, Progress, Switch
from kastor.telemetry import ColdReplicas, PassTimes, StepProfiler, StepSample, TelemetryClient, TrainingStatus

PATIENCE_SECONDS = 600


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[ScriptedOperator]:
    made = ScriptedOperator(tmp_path)
    try:
        yield made
    finally:
        made.close()


def config(operator: ScriptedOperator, folder: Path, pod: str = "a") -> Config:
    token = folder / f"{pod}.token"
    token.write_text(f"token of {pod}")
    return Config(
        *(NAMESPACE, JOB, "uid", pod, "127.0.0.1", operator.url, token, operator.ca),
        *(folder / "ring", folder / "checkpoints", folder / "log", JobSpec(32)),
    )


@pytest.fixture
def membership(operator: ScriptedOperator, tmp_path: Path) -> Iterator[MembershipClient]:
    made = MembershipClient(OperatorClient(config(operator, tmp_path)), "team-a/job", "a", "127.0.0.1:1")
    made.start()
    try:
        yield made
    finally:
        made.close()


def test_hears_of_a_generation_and_tells_where_it_is(operator: ScriptedOperator, membership: MembershipClient) -> None:
    operator.wait("it polls", lambda: operator.states.get("a"))
    operator.want(["a"], 32)
    membership.moved(0, Phase.READY)
    found = membership.wait_for(lambda m: m.action is Action.RUN, PATIENCE_SECONDS)
    assert found is not None
    assert (found.generation, found.batch_plan, found.members[0].address) == (1, BatchPlan(32), "127.0.0.1:1")
    membership.moved(1, Phase.TRAINING)
    operator.wait("it is told", operator.settled)
    with membership.while_doing(Doing.EVALUATE):
        operator.wait("it is told", lambda: operator.states["a"]["doing"] == "EVALUATE")
    operator.wait("it is told", lambda: operator.states["a"]["doing"] == "TRAIN")
    assert operator.states["a"]["client"].startswith("kastor-python/")
    operator.stop()
    assert membership.wait_for(lambda m: m.action is Action.STOP, PATIENCE_SECONDS) is not None
    assert operator.refusals == []


@pytest.mark.timing
def test_hears_at_once_of_what_it_waits_for(operator: ScriptedOperator, membership: MembershipClient) -> None:
    operator.wait("it polls", lambda: operator.states.get("a"))
    membership.moved(0, Phase.READY)
    operator.wait("it is told", lambda: operator.states["a"]["phase"] == "READY")
    began = time.monotonic()
    operator.want(["a"], 1)
    assert membership.wait_for(lambda m: m.action is Action.RUN, PATIENCE_SECONDS) is not None
    assert time.monotonic() - began < 2  # Its poll would end by itself after 10 s.


@pytest.mark.slow
def test_is_patient_with_an_operator_that_is_away(
    operator: ScriptedOperator, membership: MembershipClient, caplog: pytest.LogCaptureFixture
) -> None:
    operator.wait("it polls", lambda: operator.states.get("a"))
    with caplog.at_level(logging.INFO, "kastor"):
        operator.away = True
        operator.wait("it notices", lambda: "no membership from the operator" in caplog.text)
        polls, unanswered = operator.polls["a"], operator.unanswered
        operator.wait("it asks again and again", lambda: operator.unanswered > unanswered + 2)
        operator.away = False
        operator.wait("it polls again", lambda: operator.polls["a"] > polls + 1)
        membership.moved(0, Phase.READY)
        operator.want(["a"], 1)
        assert membership.wait_for(lambda m: m.action is Action.RUN, PATIENCE_SECONDS) is not None
    assert caplog.text.count("no membership from the operator") == 1
    assert "token of" not in caplog.text


@pytest.mark.never_retried
def test_reads_the_token_anew_and_follows_a_new_authority(operator: ScriptedOperator, tmp_path: Path) -> None:
    settings = config(operator, tmp_path)
    client = OperatorClient(settings)
    settings.token_file.write_text("expired")
    query = "membership?pod=a&address=h:1&generation=0&phase=STARTING&step=-1&waiting=false&wait=0&doing=TRAIN"
    with pytest.raises(OperatorError, match="401") as caught:
        client.get(query, PATIENCE_SECONDS)
    assert "expired" not in str(caught.value)
    settings.token_file.write_text("token of a\n")
    assert client.get(query, PATIENCE_SECONDS).body["action"] == "WAIT"
    client.close()

    right = settings.ca_file.read_text()
    (tmp_path / "x").mkdir()
    settings.ca_file.write_text(certificate(tmp_path / "x")[0].read_text())
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        client.get(query, PATIENCE_SECONDS)
    settings.ca_file.write_text("")
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        client.get(query, PATIENCE_SECONDS)
    settings.ca_file.write_text(right)
    assert client.get(query, PATIENCE_SECONDS).body["action"] == "WAIT"
    client.close()


def test_a_wrong_poll_is_an_error_with_its_status(operator: ScriptedOperator, tmp_path: Path) -> None:
    client = OperatorClient(config(operator, tmp_path))
    with pytest.raises(OperatorError, match="400") as caught:
        client.get("membership?pod=a&phase=DANCING", PATIENCE_SECONDS)
    assert caught.value.refused
    operator.away = True
    with pytest.raises(OFFLINE):
        client.get("membership?pod=a", PATIENCE_SECONDS)
    client.close()


def sample(generation: int = 0, step: int = 1, typical: bool = True, loss: float = 0.5) -> StepSample:
    progress = Progress(step, float(step), 100.0, 32 * step, 0)
    status = TrainingStatus(generation, 1, "", 1, BatchPlan(32), progress, None, 0.1)
    return StepSample(status, typical, 0.3, 0.1, loss)


@pytest.fixture
def telemetry(operator: ScriptedOperator, tmp_path: Path) -> Iterator[TelemetryClient]:
    made = TelemetryClient(OperatorClient(config(operator, tmp_path)), config(operator, tmp_path))
    made.start()
    try:
        yield made
    finally:
        made.close()


@pytest.mark.slow
def test_reports_what_was_measured_once(operator: ScriptedOperator, telemetry: TelemetryClient) -> None:
    telemetry.switched(Switch(0, 0, 1, Cause.START, 0.2))
    for step, loss in ((1, 1.0), (2, float("nan")), (3, 3.0)):
        telemetry.stepped(sample(step=step, typical=step > 1, loss=loss))
    operator.wait("a report", lambda: operator.reports)
    report = operator.reports[0]
    assert report["trainingLoss"] == 2.0
    assert [(p["steps"], p["stepSeconds"]) for p in report["profiles"]] == [(2, pytest.approx(0.4))]
    assert len(report["switches"]) == 1
    telemetry.stepped(sample(step=4, typical=False))
    operator.wait("another report", lambda: len(operator.reports) == 2)
    assert (operator.reports[1]["profiles"], operator.reports[1]["switches"]) == ([], [])
    time.sleep(1.5)  # Nothing new, nothing to report: a slow machine makes this pass, not fail.
    assert len(operator.reports) == 2
    assert [r["sequence"] for r in operator.reports] == [0, 1]
    assert operator.refusals == []


@pytest.mark.slow
def test_what_did_not_arrive_is_told_later(
    operator: ScriptedOperator, telemetry: TelemetryClient, caplog: pytest.LogCaptureFixture
) -> None:
    operator.away = True
    telemetry.switched(Switch(0, 0, 1, Cause.START, 0.2))
    telemetry.stepped(sample())
    operator.wait("a report is lost", lambda: "did not reach the operator" in caplog.text)
    telemetry.stepped(sample(step=2))
    operator.away = False
    operator.wait("all is told", lambda: sum(p["steps"] for r in operator.reports for p in r["profiles"]) == 2)
    assert len(operator.switches()) == 1


@pytest.mark.slow
def test_a_successor_is_told_all_step_times_again(operator: ScriptedOperator, telemetry: TelemetryClient) -> None:
    telemetry.stepped(sample())
    operator.wait("a report", lambda: len(operator.reports) == 1)
    operator.term = "2"
    telemetry.stepped(sample(step=2))
    operator.wait("two more reports", lambda: len(operator.reports) == 3)
    assert [r["profiles"][0]["steps"] for r in operator.reports] == [1, 1, 2]


@pytest.mark.slow
def test_the_last_report_is_sent_again_until_it_arrives(operator: ScriptedOperator, telemetry: TelemetryClient) -> None:
    telemetry.stepped(sample())
    operator.away = True
    outcome = Outcome(OutcomeKind.COMPLETED, "done")
    assert not telemetry.finish(outcome, 1)
    operator.away = False
    assert telemetry.finish(outcome, PATIENCE_SECONDS)
    assert operator.outcome == json.loads(json.dumps(outcome.to_json()))


@pytest.mark.slow
def test_a_refused_report_is_not_sent_again(
    operator: ScriptedOperator, telemetry: TelemetryClient, caplog: pytest.LogCaptureFixture
) -> None:
    telemetry.stepped(sample(generation=99))
    operator.wait("a refusal", lambda: operator.refusals)
    telemetry.stepped(sample())
    operator.wait("a report", lambda: operator.reports)
    assert operator.reports[0]["profiles"][0]["steps"] == 1
    assert "a report was refused: the operator answered 400" in caplog.text


def test_the_slowest_member_is_compared_with_the_median_of_the_others() -> None:
    times = PassTimes()
    assert times.take() is None
    times.add(["a"], [1.0])
    assert times.take() is None
    times.add(["a", "b", "c", "d"], [1.0, 4.0, 2.0, 3.0])
    times.add(["a", "b", "c", "d"], [1.0, 6.0, 2.0, 3.0])
    slowest = times.take()
    assert slowest is not None
    assert (slowest.pod, slowest.pass_seconds, slowest.others_seconds) == ("b", 5.0, 2.0)
    assert times.take() is None


def test_replicas_that_have_just_joined_others_are_cold_for_a_while() -> None:
    now = 100.0
    cold = ColdReplicas(lambda: now)
    cold.joined(["a"])
    assert cold.warm
    cold.joined(["a", "b"])
    assert not cold.warm
    now = 109.9
    cold.joined(["a"])
    assert cold.warm
    cold.joined(["a", "b"])
    assert not cold.warm
    now = 119.9
    assert cold.warm
    cold.joined(["b", "a"])
    assert cold.warm
    cold.joined(["a", "c"])
    assert not cold.warm


def test_profiles_are_bounded() -> None:
    profiler = StepProfiler()
    for replicas in range(1, 151):
        status = TrainingStatus(1, 1, "", replicas, BatchPlan(1), Progress(1, 1.0, 1.0, 1, 0))
        profiler.add(StepSample(status, True, 0.1, 0.0, 0.0))
    assert [p.replicas for p in profiler.profiles()] == list(range(51, 151))
