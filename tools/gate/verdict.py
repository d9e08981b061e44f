"""Verdict of a gate: counts, what passed at the second try, and what failed, was cut or was left out, by name."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Sequence

from .outcomes import Outcome, Status

# Lines of a failure's own text that are shown: enough for a message and the first frames.
DETAIL_LINES = 25


@dataclasses.dataclass(frozen=True)
class Leave:
    """Leave to skip the tests whose names begin with a prefix, with the reason that the list gives."""

    prefix: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Verdict over all outcomes."""

    passed: int
    failed: list[Outcome]
    cut: list[Outcome]
    skipped: list[Outcome]
    unexpected_skips: list[Outcome]

    @property
    def green(self) -> bool:
        """Whether nothing failed and nothing was left out without leave."""
        return not (self.failed or self.cut or self.unexpected_skips)

    def closing_lines(self) -> list[str]:
        """Returns the last lines of a gate: the counts, and then each thing for which it failed, by name."""
        failures = len(self.failed) + len(self.cut) + len(self.unexpected_skips)
        lines = [f"{self.passed} passed, {failures} failed, {len(self.skipped)} skipped"]
        if self.green:
            return [*lines, "kastor: the gate passed"]
        reasons = [outcome.name for outcome in self.failed]
        reasons += _by_reason("cut", self.cut)
        reasons += _by_reason("skipped without leave", self.unexpected_skips)
        return [*lines, "kastor: the gate failed: " + "; ".join(reasons)]


def _by_reason(what: str, outcomes: Sequence[Outcome]) -> list[str]:
    """Returns a text for each reason, with the names that it holds for."""
    names: dict[str, list[str]] = {}
    for outcome in outcomes:
        names.setdefault(outcome.reason, []).append(outcome.name)
    return [f"{what} ({reason}): {', '.join(each)}" for reason, each in names.items()]


def over(outcomes: Sequence[Outcome], leaves: Sequence[Leave]) -> Verdict:
    """Judges outcomes; skips are allowed where a leave names them."""
    skipped = [outcome for outcome in outcomes if outcome.status is Status.SKIPPED]
    allowed = tuple(leave.prefix for leave in leaves)
    return Verdict(
        passed=sum(outcome.status is Status.PASSED for outcome in outcomes),
        failed=[outcome for outcome in outcomes if outcome.status is Status.FAILED],
        cut=[outcome for outcome in outcomes if outcome.status is Status.CUT],
        skipped=skipped,
        unexpected_skips=[outcome for outcome in skipped if not outcome.name.startswith(allowed)],
    )


def leaves(file: pathlib.Path) -> list[Leave]:
    """Reads the list of allowed skips: `PREFIX OF A NAME -- REASON` a line, `#` for comments.

    Throws:
        ValueError: if a line gives no reason.
    """
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        prefix, separator, reason = line.partition(" -- ")
        if not separator or not reason.strip() or not prefix.strip():
            raise ValueError(f"{file}, line {number}: an allowed skip is 'PREFIX -- REASON', and this is '{line}'")
        found.append(Leave(prefix.strip(), reason.strip()))
    return found


def second(first: Sequence[Outcome], again: Sequence[Outcome]) -> tuple[list[Outcome], list[Outcome]]:
    """Joins the outcomes of a second try with those of the first, of the same part.

    A test that failed counts as passed if it passed alone. One that the second try left out, since it must never be
    retried, keeps its first outcome.

    Returns:
        all outcomes, and those that failed first and then passed.
    """
    latest = {(outcome.group, outcome.test): outcome for outcome in again}
    rescued = []
    joined = []
    for outcome in first:
        other = latest.get((outcome.group, outcome.test))
        if outcome.never_retried or other is None:
            joined.append(outcome)
            continue
        if outcome.status is Status.FAILED and other.status is Status.PASSED:
            rescued.append(outcome)
        # A test that passed beside others and fails alone has failed.
        joined.append(outcome if outcome.status is Status.FAILED and other.status is Status.SKIPPED else other)
    return joined, rescued


def detail(outcome: Outcome) -> str:
    """Returns the name of a failed test and what it said, some lines at most."""
    text = "\n".join(outcome.detail.splitlines()[:DETAIL_LINES]) or outcome.reason
    return f"{outcome.name}\n{text}"
