"""What travels between a replica and the operator, and what a replica reads of its environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kastor.conformance.document
from kastor.config import Config, JobSpec, WarmStart, Work
from kastor.conformance.document import ApiDocument
from kastor.ending import write_outcome
from kastor.errors import ConfigError
from kastor.protocol import (
    Action,
    BatchPlan,
    Cause,
    CheckpointInfo,
    GradientStats,
    Membership,
    Outcome,
    OutcomeKind,
    Progress,
    ProtocolError,
    Slowest,
    StepProfile,
    Switch,
    TelemetryReport,
)
from kastor.starting import ReplicaStart, Source

SPEC: dict[str, Any] = {"goodput": {"batchSize": {"initial": 32}}}


DOCUMENT = ApiDocument.shipped()

# Reported by a job's parameter servers, which only the engine's own programs have.
OF_PARAMETER_SERVERS = {"staleness", "droppedCopies"}


def document() -> dict[str, Any]:
    """Document that the package ships; the operator's tests compare it with what the operator serves."""
    found: dict[str, Any] = json.loads(
        Path(kastor.conformance.document.__file__).with_name("agent-api.json").read_text()
    )
    return found


def documented() -> dict[str, set[str]]:
    """Fields of the records in the documented agent API."""
    schemas = document()["components"]["schemas"]
    return {name: set(schema.get("properties", {})) for name, schema in schemas.items()}


def full_report() -> TelemetryReport:
    progress = Progress(5, 4.5, 100.0, 160, 0)
    return TelemetryReport(
        *("ns", "job", "pod", 3, 7, 2, BatchPlan(16, 1), progress),
        [StepProfile(1, 2, 16, 5, 0.5, 0.1, "A100")],
        [Switch(3, 1, 2, Cause.RESCALE, 0.04)],
        *(GradientStats(1.0, 2.0, 32), 0.7, 0.1, CheckpointInfo(4, 1000, 1)),
        Outcome(OutcomeKind.COMPLETED, "done", progress, "accuracy", 0.9, 0),
        Slowest("pod", 0.2, 0.1),
        {"accuracy": 0.9},
        "No space left on device",
    )


def test_a_full_report_has_every_documented_field() -> None:
    data = json.loads(json.dumps(full_report().to_json(), allow_nan=False))
    assert DOCUMENT.wrong_report(data, 1000, 2) == ""
    schemas = documented()
    assert data.keys() == schemas["TelemetryReport"] - OF_PARAMETER_SERVERS
    assert data["profiles"][0].keys() == schemas["StepProfile"]
    outcome = Outcome(OutcomeKind.FAILED, "x", full_report().progress, "loss", 1.0, 0, 48)
    assert outcome.to_json(2).keys() == schemas["Outcome"]


def test_an_older_operator_is_sent_no_field_that_it_does_not_know() -> None:
    outcome = Outcome(OutcomeKind.FAILED, "x", out_of_memory_at=48)
    assert "outOfMemoryAt" not in outcome.to_json(1)
    assert outcome.to_json(2)["outOfMemoryAt"] == 48
    assert DOCUMENT.wrong("Outcome", outcome.to_json(1), 1) == ""
    assert DOCUMENT.wrong("Outcome", outcome.to_json(2), 1) == (
        "outOfMemoryAt: KASTOR_PROTOCOL is 1, which does not have this field"
    )


def test_what_is_absent_has_no_field() -> None:
    report = TelemetryReport("ns", "job", "pod", 1, 0, 1, BatchPlan(1), Progress(0, 0.0, 0.0, 0, 0))
    data = report.to_json()
    assert data.keys() == set(document()["components"]["schemas"]["TelemetryReport"]["required"])
    assert DOCUMENT.wrong_report(data, 100, 1) == ""


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_no_value_that_is_not_finite_is_sent(value: float) -> None:
    outcome = Outcome(OutcomeKind.COMPLETED, "x", None, "loss", value)
    report = TelemetryReport(
        *("ns", "job", "pod", 1, 0, 1, BatchPlan(1), Progress(0, 0.0, 0.0, 0, 0)),
        gradient=GradientStats(value if value > 0 else 1e78, 1.0, 1),
        training_loss=value,
        learning_rate=value,
        outcome=outcome,
    )
    data = report.to_json()
    assert "trainingLoss" not in data
    assert "learningRate" not in data
    assert "gradient" not in data
    assert "metric" not in data["outcome"]


def test_long_messages_fit_as_the_operator_counts_them() -> None:
    message = Outcome(OutcomeKind.FAILED, "\N{GRINNING FACE}" * 2000).to_json()["message"]
    assert message == "\N{GRINNING FACE}" * 1024
    assert len(message.encode("utf-16-le")) == 2 * 2048


def membership(**changes: Any) -> dict[str, Any]:
    member = {"pod": "a", "rank": 0, "address": "1.2.3.4:5", "node": "n", "gpuType": "T4"}
    return {
        "generation": 4,
        "action": "RUN",
        "members": [member, {**member, "pod": "b", "rank": 1, "node": "m", "gpuType": "A100"}],
        "batchPlan": {"atomicBatchSize": 8, "accumulationSteps": 1},
        **changes,
    }


def test_a_start_is_told_in_whole_milliseconds_that_the_operator_takes() -> None:
    assert ReplicaStart(Source.PEERS, 0.1209, 0.41).to_text() == "PEERS,120,410"
    assert ReplicaStart(Source.INITIAL, -1.0, 1e9).to_text() == "INITIAL,0,99999999"
    for source in Source:
        poll = {"pod": "a", "address": "h:1", "generation": "1", "phase": "TRAINING"}
        assert ApiDocument.shipped().wrong_poll({**poll, "start": ReplicaStart(source, 1, 2).to_text()}) == ""


def test_reads_a_membership() -> None:
    read = Membership.from_json(membership(later={"x": 1}))
    assert (read.generation, read.action, read.rank("b"), read.rank("c")) == (4, Action.RUN, 1, None)
    assert (read.nodes, read.gpu_type, read.batch_plan) == (2, "A100+T4", BatchPlan(8, 1))
    assert read.batch_plan.global_batch_size(2) == 32
    earlier = membership(members=[{"pod": "a", "rank": 0, "address": "x:1", "node": "n"}])
    assert Membership.from_json(earlier).gpu_type == ""


def test_an_action_of_a_later_operator_counts_as_wait() -> None:
    assert Membership.from_json(membership(action="DANCE", members=[])).action is Action.WAIT


@pytest.mark.parametrize(
    "wrong",
    [
        {"members": []},
        {"members": membership()["members"][::-1]},
        {"batchPlan": None},
        {"batchPlan": {"atomicBatchSize": 0, "accumulationSteps": 0}},
        {"generation": "x"},
    ],
)
def test_refuses_a_membership_that_cannot_be_run(wrong: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError, match="the operator sent a membership"):
        Membership.from_json(membership(**wrong))


def environment(tmp_path: Path, **changes: str | None) -> dict[str, str]:
    secret = tmp_path / "ring"
    secret.write_bytes(b"s" * 32)
    found: dict[str, str | None] = {
        "KASTOR_NAMESPACE": "ns",
        "KASTOR_JOB": "job",
        "KASTOR_JOB_UID": "u",
        "KASTOR_POD": "job-0",
        "KASTOR_POD_IP": "10.0.0.1",
        "KASTOR_OPERATOR_URL": "https://kastor:8443",
        "KASTOR_TOKEN_FILE": "/t",
        "KASTOR_CA_FILE": "/c",
        "KASTOR_RING_SECRET_FILE": str(secret),
        "KASTOR_CHECKPOINT_DIR": "/k",
        "KASTOR_TERMINATION_LOG": "/l",
        "KASTOR_JOB_SPEC": json.dumps(SPEC),
        **changes,
    }
    return {name: value for name, value in found.items() if value is not None}


def test_reads_the_environment(tmp_path: Path) -> None:
    config = Config.read(environment(tmp_path, KASTOR_PROTOCOL="7", KASTOR_EXIT_WITH_PARENT="true", KASTOR_THREADS="3"))
    assert config is not None
    assert config.threads == 3
    assert (config.job_name, config.pod, config.protocol, config.exit_with_parent) == ("ns/job", "job-0", 2, True)
    assert config.spec == JobSpec(32)
    assert config.ring_secret() == b"s" * 32
    assert config.spec.warm_start is None
    warm = {**SPEC, "checkpoint": {"warmStart": {"job": "a", "step": 7}}}
    other = Config.read(environment(tmp_path, KASTOR_JOB_SPEC=json.dumps(warm), KASTOR_WARM_START_DIR="/w"))
    assert other is not None
    assert (other.spec.warm_start, other.warm_start_dir) == (WarmStart("a", 7), Path("/w"))
    assert Config.read({}) is None


def test_names_every_variable_that_is_wrong(tmp_path: Path) -> None:
    wrong = environment(
        tmp_path,
        KASTOR_POD=None,
        KASTOR_OPERATOR_URL="http://kastor",
        KASTOR_TERMINATION_GRACE_SECONDS="-1",
        KASTOR_THREADS="all",
        KASTOR_JOB_SPEC='{"goodput": {"batchSize": {"initial": 0}}, "checkpoint": {"keepLast": "3"}}',
    )
    with pytest.raises(ConfigError) as caught:
        Config.read(wrong)
    for name in (
        "KASTOR_POD is not set",
        "KASTOR_OPERATOR_URL is unusable: it must be https",
        "KASTOR_TERMINATION_GRACE_SECONDS",
        "KASTOR_THREADS is unusable: it must be a whole number above 0",
        "goodput.batchSize.initial, checkpoint.keepLast",
        "unset KASTOR_OPERATOR_URL",
    ):
        assert name in str(caught.value)


@pytest.mark.never_retried
def test_a_short_secret_is_refused_and_not_shown(tmp_path: Path) -> None:
    config = Config.read(environment(tmp_path))
    assert config is not None
    config.ring_secret_file.write_bytes(b"hunter2")
    with pytest.raises(ConfigError, match="holds 7 bytes") as caught:
        config.ring_secret()
    assert "hunter2" not in str(caught.value)


def test_reads_what_a_spec_leaves_to_the_script() -> None:
    spec = JobSpec.parse(
        json.dumps(
            {
                "elastic": {"minReplicas": 4},
                "goodput": {
                    "batchSize": {"initial": 100, "perDevice": {"min": 8, "max": 20}},
                    "learningRate": {"scaling": "Linear"},
                    "work": {"epochs": 3},
                },
            }
        )
    )
    assert (spec.first_atomic_batch, spec.scaling, spec.work) == (20, "Linear", Work(epochs=3))
    assert Work(epochs=3).total_steps(100, 1000) == 30
    assert Work(examples=500).total_steps(100, 1000) == 5
    assert Work(steps=7).total_steps(100, 1000) == 7
    with pytest.raises(ValueError, match="one of AdaScale"):
        JobSpec.parse('{"goodput": {"batchSize": {"initial": 1}, "learningRate": {"scaling": "Cubic"}}}')
    with pytest.raises(ValueError, match="not JSON"):
        JobSpec.parse("{")


def test_writes_the_outcome_whole(tmp_path: Path) -> None:
    file = tmp_path / "termination-log"
    write_outcome(file, Outcome(OutcomeKind.STOPPED, "stopped at step 3", Progress(3, 3.0, 9.0, 96, 0)))
    assert json.loads(file.read_text()) == {
        "kind": "STOPPED",
        "lostOrRepeatedExamples": 0,
        "message": "stopped at step 3",
        "progress": Progress(3, 3.0, 9.0, 96, 0).to_json(),
    }
    assert list(tmp_path.iterdir()) == [file]
