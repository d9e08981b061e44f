"""Tests of the gate: reading of reports, second tries, the verdict, lanes and the choice of parts."""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import time

import pytest
from gate import groups, lanes, modules, outcomes, parts, plan, verdict
from gate.__main__ import Gate
from gate.outcomes import Outcome, Status

ROOT = pathlib.Path(__file__).resolve().parents[2]

JUNIT = """<?xml version="1.0"?>
<testsuite name="JUnit Jupiter">
  <testcase name="adds()" classname="dev.kastor.SumTest" time="0.5"/>
  <testcase name="carries()" classname="dev.kastor.SumTest" time="0.1">
    <failure message="expected: 2&#10;but was: 3">java.lang.AssertionError: expected: 2
    at dev.kastor.SumTest.carries</failure>
  </testcase>
  <testcase name="onGpu()" classname="dev.kastor.GpuIT" time="0"><skipped>no GPU</skipped></testcase>
</testsuite>
"""


def outcome(test: str, status: Status, reason: str = "", *, never_retried: bool = False) -> Outcome:
    return Outcome("core", "dev.kastor.SumTest", test, status, reason=reason, never_retried=never_retried)


def test_reads_reports_of_junit(tmp_path: pathlib.Path) -> None:
    (tmp_path / "TEST-junit-jupiter.xml").write_text(JUNIT)
    passed, failed, skipped = outcomes.of_junit("core", tmp_path)
    assert (passed.status, passed.seconds, passed.name) == (Status.PASSED, 0.5, "core: dev.kastor.SumTest.adds")
    assert (failed.status, failed.reason) == (Status.FAILED, "expected: 2")
    assert "at dev.kastor.SumTest.carries" in failed.detail
    assert (skipped.status, skipped.reason) == (Status.SKIPPED, "no GPU")


def test_names_the_file_that_is_no_report(tmp_path: pathlib.Path) -> None:
    (tmp_path / "TEST-half.xml").write_text("<testsuite>")
    with pytest.raises(outcomes.ReportError, match=r"TEST-half\.xml is no report"):
        outcomes.of_junit("core", tmp_path)


def test_reads_results_of_the_suite(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "results.tsv"
    file.write_text(
        "Fault\truns\tFAILED\t9.5\tno pod\tyes\n"
        "Security\ttokens\tFAILED\t1\topened\tno\n"
        "Cli\tls\tCUT\t0\t30 minutes are over\tyes\n"
    )
    fault, security, cli = outcomes.of_suite("suite", file)
    assert (fault.name, fault.never_retried, fault.reason) == ("suite: Fault.runs", False, "no pod")
    assert security.never_retried
    assert cli.status is Status.CUT
    file.write_text("Fault\truns\tGREEN\t1\t\tyes\n")
    with pytest.raises(outcomes.ReportError, match="line 1"):
        outcomes.of_suite("suite", file)


@pytest.mark.parametrize(
    ("bad", "last"),
    [
        (outcome("adds", Status.FAILED, "expected: 2"), "core: dev.kastor.SumTest.adds"),
        (outcome("adds", Status.CUT, "no time"), "cut (no time): core: dev.kastor.SumTest.adds"),
        (outcome("adds", Status.SKIPPED, "no gcc"), "skipped without leave (no gcc): core: dev.kastor.SumTest.adds"),
        (Outcome("python", "types", "", Status.FAILED), "python: types"),
    ],
)
def test_the_last_line_names_what_failed(bad: Outcome, last: str) -> None:
    judged = verdict.over([outcome("carries", Status.PASSED), bad], [])
    assert not judged.green
    assert judged.closing_lines()[-1] == f"kastor: the gate failed: {last}"
    assert judged.closing_lines()[-2].startswith("1 passed, 1 failed, ")


def test_the_last_line_gives_a_reason_once() -> None:
    cut = [outcome(test, Status.CUT, "no time") for test in ("adds", "carries")]
    assert verdict.over(cut, []).closing_lines()[-1] == (
        "kastor: the gate failed: cut (no time): core: dev.kastor.SumTest.adds, core: dev.kastor.SumTest.carries"
    )


def test_skips_with_leave_do_not_fail() -> None:
    leave = verdict.Leave("core: dev.kastor.SumTest.on", "no GPU")
    judged = verdict.over([outcome("onGpu", Status.SKIPPED, "no GPU")], [leave])
    assert judged.green
    assert judged.closing_lines() == ["0 passed, 0 failed, 1 skipped", "kastor: the gate passed"]


def test_a_leave_needs_a_reason(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "skips.txt"
    file.write_text("# comment\n\ncore: A -- no GPU\n")
    assert verdict.leaves(file) == [verdict.Leave("core: A", "no GPU")]
    file.write_text("core: A\n")
    with pytest.raises(ValueError, match="line 1"):
        verdict.leaves(file)


def test_what_passes_alone_is_rescued() -> None:
    first = [outcome("adds", Status.FAILED), outcome("carries", Status.PASSED)]
    joined, rescued = verdict.second(first, [outcome("adds", Status.PASSED), outcome("carries", Status.PASSED)])
    assert rescued == [first[0]]
    assert all(each.status is Status.PASSED for each in joined)


def test_what_fails_twice_or_fails_alone_has_failed() -> None:
    first = [outcome("adds", Status.FAILED), outcome("carries", Status.PASSED)]
    joined, rescued = verdict.second(first, [outcome("adds", Status.FAILED), outcome("carries", Status.FAILED)])
    assert not rescued
    assert [each.status for each in joined] == [Status.FAILED, Status.FAILED]


def test_what_must_never_be_retried_stays_failed() -> None:
    left_out = verdict.second([outcome("adds", Status.FAILED)], [])
    passed_later = verdict.second(
        [outcome("adds", Status.FAILED, never_retried=True)], [outcome("adds", Status.PASSED)]
    )
    for joined, rescued in (left_out, passed_later):
        assert not rescued
        assert [each.status for each in joined] == [Status.FAILED]


def planned(folder: pathlib.Path, name: str, script: str, *after: str, in_lane: bool = True) -> plan.Planned:
    part = parts.Part(name, [sys.executable, "-c", script], folder, folder / name, list, understood=frozenset({0}))
    return plan.Planned(name, lambda: part, after, in_lane)


@pytest.mark.slow
def test_a_part_waits_for_what_it_is_made_of(tmp_path: pathlib.Path) -> None:
    said: list[str] = []
    found = lanes.run(
        [
            planned(tmp_path, "tests", "open('made', 'w').close()", "build"),
            planned(tmp_path, "build", "import time; time.sleep(0.3)"),
        ],
        2,
        time.monotonic(),
        said.append,
    )
    assert [result.part.name for result in found] == ["build", "tests"]
    assert all(result.returncode == 0 for result in found)
    assert said.index("tests: begins") > said.index(next(line for line in said if line.startswith("build: done")))


@pytest.mark.slow
def test_a_late_gate_leaves_nightly_parts_to_the_next_one(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = argparse.Namespace(complete=True, all=False, changed=False, python=None, parts=None)
    gate = Gate(options, tmp_path)
    gate._nightly = {"python:nightly"}
    nightly, other = planned(tmp_path, "python:nightly", ""), planned(tmp_path, "cli", "")

    def ran() -> list[str]:
        return [result.part.name for result in lanes.run([nightly, other], 1, 0.0, lambda _: None, gate._leave)]

    assert ran() == ["python:nightly", "cli"]
    monkeypatch.setattr("gate.__main__.LATEST_NIGHTLY_MINUTES", 0.0)
    assert ran() == ["cli"]
    gate._report([], verdict.over([], []), [])
    assert "kastor: left to the next gate, since this one was late: python:nightly\n" in capsys.readouterr().out
    options.all = True
    assert ran() == ["python:nightly", "cli"]


def test_after_a_failed_build_nothing_runs(tmp_path: pathlib.Path) -> None:
    said: list[str] = []
    build = planned(tmp_path, "build", "raise SystemExit(1)")
    found = lanes.run([build, planned(tmp_path, "tests", "", "build")], 2, time.monotonic(), said.append)
    assert [result.part.name for result in found] == ["build"]
    assert verdict.over(found[0].outcomes, []).closing_lines()[-1].startswith("kastor: the gate failed: build: ")
    assert "tests: not run, since build failed" in said


def test_a_part_that_waits_for_none_of_the_others_is_an_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="not planned"):
        lanes.run([planned(tmp_path, "tests", "", "build")], 2, time.monotonic(), lambda _: None)


@pytest.mark.slow
def test_no_more_parts_run_than_there_are_lanes(tmp_path: pathlib.Path) -> None:
    script = (
        "import os, time, pathlib; os.mkdir(f'on-{os.getpid()}'); n = len(list(pathlib.Path().glob('on-*')));"
        "time.sleep(0.3); os.rmdir(f'on-{os.getpid()}'); raise SystemExit(0 if n <= 2 else 9)"
    )
    found = lanes.run([planned(tmp_path, f"p{n}", script) for n in range(5)], 2, time.monotonic(), lambda _: None)
    assert [result.returncode for result in found] == [0] * 5


def test_a_part_over_its_limit_is_ended_with_what_it_started(tmp_path: pathlib.Path) -> None:
    script = "import subprocess, sys; subprocess.run(['sleep', '600'])"
    part = parts.Part("hangs", [sys.executable, "-c", script], tmp_path, tmp_path / "r", list, limit_seconds=0.5)
    result = lanes.run([plan.Planned("hangs", lambda: part)], 1, time.monotonic(), lambda _: None)[0]
    assert "its limit" in result.failed()[0].reason


def test_reports_of_a_part_that_crashed_do_not_hide_it(tmp_path: pathlib.Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "TEST-a.xml").write_text(JUNIT.replace("<failure", "<skipped").replace("</failure", "</skipped"))
    part = parts.Part(
        "core", [sys.executable, "-c", "raise SystemExit(134)"], tmp_path, tmp_path / "r",
        lambda: outcomes.of_junit("core", tmp_path / "r"),
    )  # fmt: skip
    result = lanes.run([plan.Planned("core", lambda: part)], 1, time.monotonic(), lambda _: None)[0]
    assert [each.reason.partition(";")[0] for each in result.failed()] == ["ended with status 134"]


def test_groups_share_a_processor_by_their_weights_or_say_that_they_cannot() -> None:
    said = groups.trial(seconds=0.5)
    assert "weights 4 to 1 gave" in said or "cannot be made here" in said
    assert not list(groups.ROOT.glob(f"*/kastor-gate-{os.getpid()}-*"))


def test_a_change_of_a_module_affects_what_depends_on_it() -> None:
    assert modules.affected(ROOT, ["cli/src/main/java/dev/kastor/cli/Kastor.java"]) == {"cli", "e2e"}
    assert {"operator", "simulator", "cli", "engine"} <= modules.affected(ROOT, ["scheduler-core/src/X.java"])
    assert modules.affected(ROOT, ["pom.xml"]) == set(modules.dependents(ROOT))
    assert modules.affected(ROOT, ["docs/e2e.md"]) == set()


def test_every_module_with_tests_is_a_part() -> None:
    with_tests = {pom.parent.name for pom in ROOT.glob("*/pom.xml") if (pom.parent / "src" / "test").is_dir()}
    assert with_tests == set(parts.MODULES)


def test_nightly_parts_take_turns_and_come_at_once_when_their_packages_change() -> None:
    found = [plan.Nightly("a", ("a/",)), plan.Nightly("b", ("b/src/main",)), plan.Nightly("c", ("c/src/main",))]
    assert [[part.name for part in plan.chosen(found, [], turn)] for turn in range(4)] == [["a"], ["b"], ["c"], ["a"]]
    assert [part.name for part in plan.chosen(found, ["c/src/main/X.java"], 0)] == ["a", "c"]
    assert [part.name for part in plan.chosen(found, ["c/src/test/XTest.java"], 1)] == ["b"]
    assert [part.name for part in plan.chosen(found, ["c/src/main/below/X.java"], 1)] == ["b"]
    assert [part.name for part in plan.chosen(found, ["a/src/below/X.java"], 1)] == ["a", "b"]
    # What a late gate left comes in the next one.
    assert [part.name for part in plan.chosen(found, [], 0, ["c"])] == ["a", "c"]


def test_a_check_that_failed_is_never_retried(tmp_path: pathlib.Path) -> None:
    (tmp_path / "checks.tsv").write_text("format\tpassed\ntypes\tfailed\n")
    form, types = outcomes.of_checks("python", tmp_path / "checks.tsv")
    assert (form.status, types.status) == (Status.PASSED, Status.FAILED)
    assert types.never_retried
    (tmp_path / "checks.tsv").write_text("format passed\n")
    with pytest.raises(outcomes.ReportError, match=r"checks.tsv, line 1: no result of a check"):
        outcomes.of_checks("python", tmp_path / "checks.tsv")


def test_what_the_watcher_saw_is_never_retried(tmp_path: pathlib.Path) -> None:
    assert not plan.violations("suite", tmp_path)
    (tmp_path / "violations").write_text("a GPU was given twice\n")
    (found,) = plan.violations("suite", tmp_path)
    assert (found.status, found.never_retried) == (Status.FAILED, True)
    assert found.name == "suite: watcher.a GPU was given twice"


def test_pods_are_charged_to_the_suite_which_starts_them(tmp_path: pathlib.Path) -> None:
    assert plan.pod_seconds(tmp_path) == 0
    (tmp_path / "pods.seconds").write_text("812\n")
    assert plan.pod_seconds(tmp_path) == 812


def test_tests_with_a_tag_are_looked_for_in_their_classes_alone(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/jdk")
    target = tmp_path / "operator" / "target"
    target.mkdir(parents=True)
    (target / "test-classpath").write_text("a.jar\n")
    file = pathlib.Path("operator/src/test/java/dev/kastor/operator/SlowIT.java")
    part = plan.Machine(tmp_path, tmp_path, None).tagged("operator", "timing", [file]).make()
    assert part.name == "operator:timing"
    assert "--select-class=dev.kastor.operator.SlowIT" in part.command
    assert not [option for option in part.command if option.startswith("--scan")]
    # A tag that no test has any more is a failure; in a second try there may be nothing left to run.
    assert part.understood == {0, 1}
    assert part.again
    assert part.again(["dev.kastor.operator.SlowIT"], tmp_path).understood == {0, 1, 2}


def test_scenarios_of_which_not_all_steps_are_in_each_gate_take_turns() -> None:
    sources = (ROOT / "e2e" / "src" / "main").rglob("*Scenario.java")
    tagged = {file.name.removesuffix("Scenario.java") for file in sources if '@Tag("nightly")' in file.read_text()}
    assert tagged == set(plan.SCENARIOS)
    for paths in plan.SCENARIOS.values():
        assert all((ROOT / path).exists() for path in paths), paths


def test_chosen_parts_bring_what_they_wait_for(tmp_path: pathlib.Path) -> None:
    found = [
        planned(tmp_path, "build", ""),
        planned(tmp_path, "a", "", "build"),
        planned(tmp_path, "b", "", "build"),
        planned(tmp_path, "c", "", "b"),
    ]
    assert [part.name for part in plan.only(found, ["c"])] == ["build", "b", "c"]
    with pytest.raises(SystemExit, match="there is no part d"):
        plan.only(found, ["d"])


def test_what_a_late_gate_left_begins_before_the_modules_of_the_next_one(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in parts.MODULES:
        (tmp_path / module / "target").mkdir(parents=True)
    options = argparse.Namespace(
        complete=True, all=False, changed=False, python=pathlib.Path(sys.executable), parts=None
    )
    gate = Gate(options, tmp_path)
    gate._machine = plan.Machine(tmp_path, tmp_path, options.python)
    monkeypatch.setattr(modules, "left", lambda *_: ["python:nightly"])
    names = [part.name for part in gate._beside_each_other()]
    assert names[:4] == ["build", "python", "class caches", "python:nightly"]
    assert names.count("python:nightly") == 1


def test_parts_that_run_at_last_can_be_asked_for_and_bring_the_build(tmp_path: pathlib.Path) -> None:
    options = argparse.Namespace(complete=False, all=False, changed=False, python=None, parts=["operator:timing"])
    gate = Gate(options, tmp_path)
    # A plan of the build removes marks of what is built, which is not to happen to this checkout.
    gate._machine = plan.Machine(tmp_path, tmp_path, None)
    assert [part.name for part in gate._beside_each_other()] == ["build"]
    assert [part.name for part in gate._alone()] == ["operator:timing"]
    options.parts = ["nothing:timing"]
    with pytest.raises(SystemExit, match="there is no part nothing:timing"):
        gate._beside_each_other()


def test_changed_files_are_those_of_commits_and_of_the_tree(tmp_path: pathlib.Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=tmp_path, check=True)

    git("init", "--quiet")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "--quiet", "-m", "a")
    (tmp_path / "a").write_text("2")
    (tmp_path / "b").write_text("new")
    assert modules.changed_files(tmp_path, "HEAD") == ["a", "b"]


def commit_of(tree: pathlib.Path) -> str:
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout.strip()


def test_changes_count_since_the_newest_commit_whose_gate_passed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KASTOR_GATE_BASE", raising=False)
    tree, known = tmp_path / "tree", tmp_path / "cache" / "passed"
    tree.mkdir()

    def commit(name: str) -> str:
        for command in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "-m", name]):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *command], cwd=tree, check=True)
        return commit_of(tree)

    first = commit("first")
    assert modules.base(tree, known) is None
    assert modules.hours_ago(tree) == first
    second = commit("second")
    modules.note_passed(tree, known)
    commit("third")
    assert modules.base(tree, known) == second
    (tree / "uncommitted").write_text("")
    modules.note_passed(tree, known)
    assert modules.base(tree, known) == second
    known.write_text(f"{second}\n{'0' * 40}\n")  # One of another branch.
    assert modules.base(tree, known) == second
    assert modules.left(tree, known) == []
    (tree / "uncommitted").unlink()
    modules.note_passed(tree, known, ["python:nightly", "simulator:nightly"])
    assert modules.base(tree, known) == commit_of(tree)
    assert modules.left(tree, known) == ["python:nightly", "simulator:nightly"]
