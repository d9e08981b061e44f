"""Outcomes of single tests, read from the reports of JUnit, pytest and the suite on a real Kubernetes."""

from __future__ import annotations

import dataclasses
import enum
import pathlib
import xml.etree.ElementTree as ElementTree


class Status(enum.Enum):
    """Status of one test."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CUT = "cut"  # It never began, for lack of time.


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Outcome of one test: a method, a Python function or a step of a scenario.

    `group` is what runs a second time when the test fails: a class, a file or a scenario.
    """

    part: str
    group: str
    test: str
    status: Status
    seconds: float = 0.0
    reason: str = ""
    detail: str = ""
    never_retried: bool = False

    @property
    def name(self) -> str:
        """Name by which a person finds the test."""
        where = f"{self.group}.{self.test}" if self.test else self.group
        return f"{self.part}: {where or self.reason}"


class ReportError(Exception):
    """Reason why a report cannot be read, with its file."""


def of_junit(part: str, folder: pathlib.Path) -> list[Outcome]:
    """Reads the XML reports that JUnit's console or pytest wrote into a folder.

    Throws:
        ReportError: if a file is no such report.
    """
    outcomes = []
    for file in sorted(folder.glob("*.xml")):
        try:
            cases = list(ElementTree.parse(file).iter("testcase"))
        except ElementTree.ParseError as error:
            raise ReportError(f"{file} is no report of tests: {error}") from error
        outcomes += [_of_case(part, case) for case in cases]
    return outcomes


def of_suite(part: str, file: pathlib.Path) -> list[Outcome]:
    """Reads results.tsv of the suite: a line a step, of scenario, step, status, seconds, reason, retried.

    Throws:
        ReportError: if a line has another form.
    """
    outcomes = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            scenario, step, status, seconds, reason, retried = line.split("\t")
            never = {"yes": False, "no": True}[retried]
            outcome = Outcome(part, scenario, step, Status(status.lower()), float(seconds), reason, never_retried=never)
        except (KeyError, ValueError) as error:
            raise ReportError(f"{file}, line {number}: no result of a step ({error})") from error
        outcomes.append(outcome)
    return outcomes


def of_checks(part: str, file: pathlib.Path) -> list[Outcome]:
    """Reads checks.tsv of the Python checks, which would fail again: a line a check with its name and its status.

    Throws:
        ReportError: if a line has another form.
    """
    outcomes = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            name, status = line.split("\t")
            outcomes.append(Outcome(part, name, "", Status(status.lower()), never_retried=True))
        except ValueError as error:
            raise ReportError(f"{file}, line {number}: no result of a check ({error})") from error
    return outcomes


def _of_case(part: str, case: ElementTree.Element) -> Outcome:
    status, reason, detail = Status.PASSED, "", ""
    for kind, tags in ((Status.SKIPPED, ("skipped",)), (Status.FAILED, ("failure", "error"))):
        for tag in tags:
            child = case.find(tag)
            if child is not None:
                status, reason, detail = kind, child.get("message") or "", child.text or ""
    # pytest names files, JUnit classes.
    group = case.get("file") or case.get("classname") or ""
    name = case.get("name", "").replace("()", "")
    return Outcome(part, group, name, status, float(case.get("time") or 0), first_line(reason or detail), detail)


def first_line(text: str | None) -> str:
    """Returns the first line of a text that says something."""
    return next((line.strip() for line in (text or "").splitlines() if line.strip()), "")
