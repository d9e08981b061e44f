"""Conformance kit: right clients pass it, and one with a flaw fails on the rule that it breaks."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from local_kastor import ROOT

from kastor.conformance.__main__ import lines, main
from kastor.conformance.document import ApiDocument
from kastor.conformance.replicas import merged
from kastor.conformance.rules import RULES, Rulebook, Watch
from kastor.conformance.scenes import Leaver, Life, Versions, play_all

SCRIPTS = Path(__file__).parent / "scripts"
BARE = [sys.executable, str(SCRIPTS / "bare_client.py")]
PLAN = {"atomicBatchSize": 8, "accumulationSteps": 0}

POLL = {
    **{"pod": "a", "address": "127.0.0.1:1", "generation": "0", "phase": "READY", "step": "-1", "waiting": "false"},
    **{"doing": "TRAIN", "wait": "10", "client": "mine/1 protocol/2", "mostExamples": "0"},
    "start": "PEERS,120,410",
}
REPORT: dict[str, Any] = {
    **{"namespace": "n", "job": "j", "pod": "a", "generation": 1, "sequence": 1, "replicas": 2},
    "batch": PLAN,
    "profiles": [{"nodes": 1, "replicas": 2, "atomicBatchSize": 8, "steps": 3, "stepSeconds": 0.5, "syncSeconds": 0.1}],
    "progress": {
        **{"step": 3, "scaleInvariantSteps": 3.0, "totalScaleInvariantSteps": 9.0},
        **{"examples": 48, "epoch": 0},
    },
    "switches": [],
}


# --- the document ---


def test_a_poll_may_have_the_documented_parameters_alone() -> None:
    document = ApiDocument.shipped()
    assert document.wrong_poll(POLL) == ""
    for name in ("pod", "address", "generation", "phase"):
        assert document.wrong_poll({n: v for n, v in POLL.items() if n != name}) == f"{name}: missing"
    for name, value in (
        *(("phase", "ready"), ("address", "h"), ("generation", "-1"), ("step", "-2"), ("waiting", "yes")),
        *(("doing", "SLEEP"), ("wait", "1.5"), ("client", "x" * 121), ("mostExamples", "-1")),
        *(("start", "PEERS"), ("start", "ELSEWHERE,1,1"), ("start", "PEERS,-1,1"), ("start", "PEERS,123456789,1")),
    ):
        assert document.wrong_poll({**POLL, name: value}) == f"{name}={value!r}"
    assert document.wrong_poll({**POLL, "mood": "good"}) == "mood: there is no such parameter"


@pytest.mark.parametrize(
    ("path", "value", "wrong"),
    [
        ("batch.atomicBatchSize", 0, "batch.atomicBatchSize=0: it must be from 1 to 2147483647"),
        ("batch.atomicBatchSize", True, "batch.atomicBatchSize=True: it must be of type integer"),
        ("progress.step", 1.5, "progress.step=1.5: it must be of type integer"),
        ("progress.examples", 2**52 + 1, "progress.examples=4503599627370497: it must be from 0 to 4503599627370496"),
        ("profiles.0.syncSeconds", 0.6, "profiles[0].syncSeconds is above stepSeconds"),
        ("profiles.0.nodes", 3, "profiles[0].nodes is above replicas"),
        ("profiles.0.gpuType", "x" * 257, "profiles[0].gpuType: it may have 256 characters or entries but has 257"),
        ("profiles.0.colour", "red", "profiles[0].colour: there is no such field"),
        ("replicas", 10**5, ""),
        ("replicas", 10**5 + 1, "replicas=100001: it must be from 0 to 100000"),
        ("switches", [{}], "switches[0].generation: missing"),
        ("switches", None, "switches=None: it must be of type array"),
        ("trainingLoss", float("nan"), "trainingLoss=nan: it must be of type number"),
        ("outcome", {"kind": "LEFT", "message": "", "lostOrRepeatedExamples": 0}, ""),
        (
            "outcome",
            {"kind": "GONE", "message": "", "lostOrRepeatedExamples": 0},
            "outcome.kind='GONE': it must be one",
        ),
    ],
)
def test_a_report_is_held_against_types_bounds_and_names(path: str, value: Any, wrong: str) -> None:
    report = copy.deepcopy(REPORT)
    *holders, name = path.split(".")
    holder: Any = report
    for each in holders:
        holder = holder[int(each)] if each.isdecimal() else holder[each]
    holder[name] = value
    found = ApiDocument.shipped().wrong_report(report, 100, 2)
    assert found.startswith(wrong)
    assert bool(found) == bool(wrong)


def test_a_report_has_its_size_and_every_required_field() -> None:
    document = ApiDocument.shipped()
    assert document.wrong_report(REPORT, 65536, 2) == ""
    assert "65537" in document.wrong_report(REPORT, 65537, 2)
    for name in REPORT:
        assert document.wrong_report({n: v for n, v in REPORT.items() if n != name}, 1, 2) == f"{name}: missing"
    assert document.wrong_report("no report", 1, 2) == "TelemetryReport='no report': it must be of type object"


def test_a_document_with_what_is_not_checked_is_refused() -> None:
    text = json.loads(
        (Path(sys.modules["kastor.conformance.document"].__file__ or "").parent / "agent-api.json").read_text()
    )
    text["components"]["schemas"]["BatchPlan"]["properties"]["atomicBatchSize"]["multipleOf"] = 2
    with pytest.raises(ValueError, match="multipleOf"):
        ApiDocument(text).wrong("BatchPlan", PLAN, 2)


# --- the watch ---


def polled(watch: Watch, *polls: tuple[str, int, int], pod: str = "a") -> None:
    for phase, generation, step in polls:
        query = {**POLL, "pod": pod, "phase": phase, "generation": str(generation), "step": str(step)}
        watch.poll_began(pod, query)
        watch.poll_ended(pod)


@pytest.fixture
def watch() -> Watch:
    made = Watch(Rulebook())
    made.published(1, ["a", "b"], PLAN)
    made.published(2, ["a"], PLAN)
    return made


def test_the_life_of_a_member_breaks_no_rule(watch: Watch) -> None:
    polled(watch, ("STARTING", 0, -1), ("READY", 0, -1), ("TRAINING", 1, 0), ("BROKEN", 1, 7), ("TRAINING", 2, 7))
    assert watch.rules.broken() == []


def test_a_poll_that_a_later_one_overtook_is_no_fault_and_two_are(watch: Watch) -> None:
    polled(watch, ("READY", 0, -1), ("TRAINING", 1, 5), ("READY", 0, -1), ("TRAINING", 1, 6))
    assert watch.rules.broken() == []
    polled(watch, ("TRAINING", 1, 5), ("TRAINING", 1, 5))
    assert watch.rules.broken() == ["steps"]
    polled(watch, ("READY", 0, 6), ("READY", 0, 6))
    assert watch.rules.broken() == ["phases", "generations", "steps"]


def test_nobody_trains_where_it_is_not_listed(watch: Watch) -> None:
    polled(watch, ("READY", 0, -1), ("TRAINING", 2, 0), ("TRAINING", 2, 1), pod="b")
    assert watch.rules.verdicts["generations"].faults == ["b: TRAINING in generation 2, which does not list it"]


def test_a_third_poll_at_once_is_one_too_many(watch: Watch) -> None:
    for _ in range(2):
        watch.poll_began("a", POLL)
    assert watch.rules.broken() == []
    watch.poll_began("a", POLL)
    assert watch.rules.broken() == ["one-poll"]


def test_reports_are_of_rank_0_and_of_what_was_in_force(watch: Watch) -> None:
    assert watch.reported(REPORT)
    assert not watch.reported(REPORT)
    assert watch.rules.broken() == []
    assert watch.reported({**REPORT, "sequence": 2, "generation": 2, "replicas": 1})
    assert watch.rules.broken() == []
    assert not watch.reported({**REPORT, "sequence": 2})
    assert watch.rules.broken() == ["sequence"]
    watch.reported({**REPORT, "pod": "b"})
    watch.reported({**REPORT, "sequence": 3, "replicas": 3})
    watch.reported({**REPORT, "sequence": 4, "batch": {**PLAN, "accumulationSteps": 1}})
    assert len(watch.rules.verdicts["reporter"].faults) == 3
    watch.reported({**REPORT, "sequence": 5, "progress": {**REPORT["progress"], "step": 2}})
    assert watch.rules.broken() == ["reporter", "sequence", "progress"]


# --- the command ---


def test_every_rule_has_a_line_which_says_why_it_failed_or_was_not_tried() -> None:
    rules = Rulebook()
    rules.judge("poll")
    rules.judge("report", "a: batch: missing")
    rules.judge("report", "a: batch: missing")
    rules.verdicts["grow"].skipped = "after start failed"
    shown = lines(rules)
    assert [line.split()[1] for line in shown if not line.startswith(" ")] == list(RULES)
    assert shown[0].startswith("passed   poll ")
    at = next(i for i, line in enumerate(shown) if line.startswith("failed   report "))
    assert shown[at + 1] == "         a: batch: missing"
    assert any(line.startswith("untried  grow ") and line.endswith("(after start failed)") for line in shown)
    assert shown[at + 2].startswith("untried  reporter")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--", "no-such-command"], "there is no command no-such-command"),
        (["--spec", "/none", "--", sys.executable], "--spec /none: "),
        (["--keep", "/", "--", sys.executable], "/ exists"),
        ([], "command"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert said in capsys.readouterr().err


def test_specs_are_merged_field_by_field() -> None:
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": {"e": 4}}, "d": None}) == {
        "a": {"b": 1, "c": {"e": 4}},
        "d": None,
    }


# --- clients ---


def failed(rules: Rulebook) -> str:
    return "\n".join(line for line in lines(rules) if not line.startswith("passed"))


@pytest.mark.integration
@pytest.mark.timeout(3600)
def test_a_client_of_the_standard_library_keeps_all_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--patience", "900", "--keep", str(tmp_path / "kept"), "--", *BARE]) == 0, capsys.readouterr().out
    assert "failed" not in capsys.readouterr().out
    assert (tmp_path / "kept" / "life" / "a.log").exists()


AT_ONCE = 6
FLAWS = {
    **dict.fromkeys(("poll", "client", "steps", "phases", "report", "reporter", "sequence", "unknown", "busy"), Life),
    **dict.fromkeys(("new-operator", "new-token", "shrink", "killed", "terminated", "stop", "resume"), Life),
    **{"last-words": Leaver, "leave": Leaver, "exit-code": Versions, "audit": Versions},
}


@pytest.fixture(scope="module")
def flawed() -> dict[str, Rulebook]:
    """Verdicts on clients with one flaw each; they mostly wait, so several run at once.

    What a flawed client never does is waited for as long as several short stories of a right one take here.
    """
    began = time.monotonic()
    assert play_all(BARE, {}, patience=900, stories=(Leaver, Versions)).broken() == []
    patience = max(12, AT_ONCE * (time.monotonic() - began))
    with ThreadPoolExecutor(AT_ONCE) as threads:
        played = {
            flaw: threads.submit(play_all, [*BARE, flaw], {}, patience=patience, stories=(story,))
            for flaw, story in FLAWS.items()
        }
        return {flaw: rules.result() for flaw, rules in played.items()}


@pytest.mark.integration
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("flaw", FLAWS)
def test_a_client_with_a_flaw_fails_on_the_rule_that_it_breaks(flaw: str, flawed: dict[str, Rulebook]) -> None:
    broken = {"exit-code": "last-words"}.get(flaw, flaw)
    assert broken in flawed[flaw].broken(), failed(flawed[flaw])


@pytest.mark.integration
@pytest.mark.timeout(3600)
def test_training_by_pytorch_keeps_all_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python" / "src"))
    rules = play_all([sys.executable, str(SCRIPTS / "endless.py")], {}, patience=900)
    assert all(verdict.passed for verdict in rules.verdicts.values()), failed(rules)


@pytest.mark.integration
@pytest.mark.timeout(3600)
def test_the_agent_of_java_keeps_all_rules(built_kastor: None) -> None:
    home = subprocess.run([str(ROOT / "kastor"), "jdk"], check=True, capture_output=True, text=True).stdout.strip()
    built = ROOT / "training-agent" / "target"
    (jar,) = [path for path in built.glob("training-agent-*.jar") if "tests" not in path.name]
    command = [
        *(f"{home}/bin/java", "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("--enable-native-access=ALL-UNNAMED", "--add-modules", "jdk.incubator.vector"),
        *("-cp", f"{jar}:{built / 'lib'}/*", "dev.kastor.agent.Agent"),
    ]
    small = {"trainingExamples": "600", "heldOutExamples": "100", "hidden": "16"}
    spec = {
        "program": {"name": "glyph-mlp", "parameters": small},
        "goodput": {"learningRate": {"base": "0.02", "scaling": "AdaScale"}},
    }
    rules = play_all(command, spec, patience=900)
    assert all(verdict.passed for verdict in rules.verdicts.values()), failed(rules)
