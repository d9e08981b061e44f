"""Stages of a check: a script's first steps by one replica, by two, and by replicas that join, die and resume."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from kastor.conformance.replicas import ENDLESS
from kastor.conformance.rules import Rulebook
from kastor.conformance.scenes import SceneFailed, Story

_FIGURE = re.compile(r", ([A-Za-z0-9_]+) (-?[0-9.]+(?:e[+-]?[0-9]+)?)(?=,|$)")
# Ratio of a sum over one of two shares to the sum over the whole data set, divided by the same length.
_HALF = (0.4, 0.6)
_STEPS_OF_A_LOSS = 12
_LAST_LINES = 12


class Verdict(Enum):
    """Verdict on one row of a check."""

    HOLDS = "ok"
    BROKEN = "failed"
    DOUBTFUL = "look"
    UNSEEN = "not seen"


@dataclass(frozen=True)
class Row:
    """Row of a check: what was looked at, and what was seen, with the remedy where it is broken."""

    name: str
    verdict: Verdict
    text: str


@dataclass(frozen=True)
class Sizes:
    """Sizes with which a script is checked.

    Args:
        batch: for which it was written, at least 4, in examples over all replicas.
        most: examples that one replica takes at once at the most.
        steps: of the first two stages.
        accumulates: whether a step may have several passes.
    """

    batch: int
    most: int
    steps: int
    accumulates: bool = True


class _WorkDone(Exception):
    """Signal that the script's own work was done before its stage."""


class _Stage(Story):
    """Job of one stage, whose replicas are the script's."""

    def __init__(self, command: Sequence[str], sizes: Sizes, patience: float, folder: Path) -> None:
        batch = {
            "initial": sizes.batch,
            "max": 4 * sizes.most,
            "perDevice": {"min": 1, "max": sizes.most},
            "gradientAccumulation": sizes.accumulates,
        }
        super().__init__(command, {"goodput": {"batchSize": batch}}, Rulebook(), patience, folder)
        self.replicas.variables.update({"KASTOR_CHECK": "true", "KASTOR_EXIT_WITH_PARENT": "true"})
        self.killed: set[str] = set()
        self.endless = False

    def __enter__(self) -> _Stage:
        """Returns itself."""
        return self

    def wait(self, what: str, holds: Callable[[], Any], lives: str = "") -> None:
        """Waits until something holds, while all replicas live that were not killed.

        Raises:
            SceneFailed: with the last words of one that ended.
            _WorkDone: if the work of a job without end is done.
        """

        def holds_or_ended() -> bool:
            return bool(holds()) or any(self._failed()) or self._over()

        super().wait(what, holds_or_ended)
        if not holds():
            if self._over():
                raise _WorkDone
            raise SceneFailed(self.last_words(next(self._failed())))

    def _over(self) -> bool:
        return self.endless and (self.operator.outcome or {}).get("kind") == "COMPLETED"

    def _failed(self) -> Iterator[str]:
        for pod in list(self.replicas.ended):
            outcome = self.replicas.outcome(pod)
            good = outcome is not None and outcome["kind"] in ("COMPLETED", "LEFT", "STOPPED")
            if pod not in self.killed and not good:
                yield pod

    def last_words(self, pod: str) -> str:
        """What a replica that ended says of it: the broken rule and the remedy, or the end of what it printed."""
        outcome = self.replicas.outcome(pod)
        if outcome is not None and "outOfMemoryAt" in outcome:
            at = outcome["outOfMemoryAt"]
            return f"Memory ran out at {at} examples a pass: run it with --per-replica and fewer"
        if outcome is not None:
            return str(outcome["message"])
        printed = "\n".join(self.replicas.printed(pod).splitlines()[-_LAST_LINES:])
        status = self.replicas.ended[pod]
        if pod not in self.operator.states:
            return (
                f"It ended with status {status} and was no replica: a script calls kastor.torch.init() and the five"
                f" other lines of docs/pytorch.md. It printed at the end:\n{printed}"
            )
        return f"It ended with status {status}. It printed at the end:\n{printed}"

    def completes(self, pods: Sequence[str]) -> dict[str, Any]:
        """Outcome of the job, once its work is done and all replicas have ended."""
        self.wait("the work is done", lambda: self.operator.outcome)
        self.operator.ended = True
        self.wait("the replicas end", lambda: all(pod in self.replicas.ended for pod in pods))
        outcome = self.operator.outcome
        assert outcome is not None
        return outcome

    def step_seconds(self) -> float:
        """Seconds of a step in the newest report with a profile; 0 without one."""
        profiles = [each for report in self.operator.reports for each in report["profiles"]]
        return float(profiles[-1]["stepSeconds"]) if profiles else 0.0

    def losses(self) -> dict[int, float]:
        """Last reported loss by generation."""
        return {r["generation"]: r["trainingLoss"] for r in self.operator.reports if "trainingLoss" in r}


class Check:
    """Check of one script.

    Args:
        command: that starts a replica.
        sizes: of batches and steps.
        patience: seconds that anything may take that is waited for.
        folder: new, for logs, outcomes and checkpoints.
        say: called with each row as soon as it is known.
    """

    def __init__(
        self, command: Sequence[str], sizes: Sizes, patience: float, folder: Path, say: Callable[[Row], None]
    ) -> None:
        self._command, self._sizes, self._patience, self._folder = command, sizes, patience, folder
        self._say = say
        self._rows: list[Row] = []

    def rows(self) -> list[Row]:
        """Takes the script through all stages; the later ones are not seen where an earlier one broke."""
        figures: list[dict[str, float]] = []
        for name, replicas in (("one replica", 1), ("two replicas", 2)):
            found = self._trains(name, replicas)
            if found is None:
                return self._rows
            figures.append(found)
        self._compare(*figures)
        self._changes()
        return self._rows

    def _row(self, name: str, verdict: Verdict, text: str) -> None:
        row = Row(name, verdict, text)
        self._rows.append(row)
        self._say(row)

    def _stage(self, name: str) -> _Stage:
        return _Stage(self._command, self._sizes, self._patience, self._folder / name.replace(" ", "-"))

    def _trains(self, name: str, replicas: int) -> dict[str, float] | None:
        """First steps by so many replicas; the metrics with which they ended, None where something broke."""
        steps, atomic = self._sizes.steps, self._sizes.batch // replicas
        pods = ["a", "b"][:replicas]
        with self._stage(name) as stage:
            try:
                for pod in pods:
                    stage.start(pod, steps=steps)
                stage.operator.want(pods, atomic)
                outcome = stage.completes(pods)
            except SceneFailed as failure:
                self._row(name, Verdict.BROKEN, str(failure))
                return None
            step, milliseconds = outcome["progress"]["step"], stage.step_seconds() * 1e3
            self._row(
                name, Verdict.HOLDS, f"{step} steps of {replicas} x {atomic} examples, {milliseconds:.1f} ms each"
            )
            if replicas > 1:
                self._row("replicas are equal", Verdict.HOLDS, f"compared after each of {step} steps")
                self._audit(outcome)
            return {figure: float(value) for figure, value in _FIGURE.findall(outcome["message"])}

    def _audit(self, outcome: dict[str, Any]) -> None:
        wrong = int(outcome["lostOrRepeatedExamples"])
        verdict = Verdict.HOLDS if wrong == 0 else Verdict.BROKEN
        self._row("examples", verdict, f"{wrong} lost or repeated")

    def _compare(self, one: dict[str, float], two: dict[str, float]) -> None:
        """Compares what finish() was given by one replica and by two, after the same steps."""
        if not one:
            self._row("metrics", Verdict.UNSEEN, "the script gives job.finish() none")
            return
        halves = [name for name in one if name in two and one[name] and _HALF[0] < two[name] / one[name] < _HALF[1]]
        text = ", ".join(f"{name} {one[name]:.6g} by one and {two.get(name, float('nan')):.6g} by two" for name in one)
        if halves:
            text += (
                f". {halves[0]} halves: is it a sum over this replica's share, divided by the length of the whole data"
                " set? Divide by the examples that were counted, and take job.average or job.sum of it"
            )
        self._row("metrics", Verdict.DOUBTFUL if halves else Verdict.HOLDS, text)

    def _changes(self) -> None:
        """Replicas that join, take other batches, die and go on from a checkpoint."""
        with self._stage("changes") as stage:
            scenes: list[tuple[str, Callable[[], str]]] = [
                ("a replica joins", lambda: self._joins(stage)),
                ("smaller passes", lambda: self._accumulates(stage)),
                (f"{self._sizes.most} a replica", lambda: self._grows(stage)),
                ("a replica is killed", lambda: self._kills(stage)),
                ("goes on from a checkpoint", lambda: self._resumes(stage)),
            ]
            if not self._sizes.accumulates:
                del scenes[1]
            stage.endless = True
            for index, (name, scene) in enumerate(scenes):
                try:
                    self._row(name, Verdict.HOLDS, scene())
                except _WorkDone:
                    self._not_seen([n for n, _ in scenes[index:]], "the script's work was done before: more epochs")
                    break
                except SceneFailed as failure:
                    self._row(name, Verdict.BROKEN, str(failure))
                    self._not_seen([n for n, _ in scenes[index + 1 :]], f"{name!r} failed")
                    return
            self._loss_of(stage)

    def _not_seen(self, names: Sequence[str], why: str) -> None:
        for name in names:
            self._row(name, Verdict.UNSEEN, why)

    def _joins(self, stage: _Stage) -> str:
        stage.start("a", steps=ENDLESS)
        stage.train(["a"], self._sizes.batch)
        stage.steps(_STEPS_OF_A_LOSS)
        stage.start("b", steps=ENDLESS)
        stage.train(["a", "b"], self._sizes.batch // 2)
        pause = stage.operator.switches()[-1]["pauseSeconds"]
        return f"a pause of {pause * 1e3:.0f} ms"

    def _accumulates(self, stage: _Stage) -> str:
        atomic = max(1, self._sizes.batch // 4)
        stage.train(["a", "b"], atomic, 1)
        stage.steps(_STEPS_OF_A_LOSS)
        return f"two passes of {atomic} examples on each replica before an update"

    def _grows(self, stage: _Stage) -> str:
        stage.train(["a", "b"], self._sizes.most)
        # The first report of a generation may be of steps before it.
        stage.steps()
        return f"a batch of {2 * self._sizes.most}: it fits into memory"

    def _kills(self, stage: _Stage) -> str:
        stage.killed.add("b")
        stage.replicas.signal("b", signal.SIGKILL)
        stage.wait("a trains on", lambda: "b" in stage.replicas.ended and stage.operator.settled())
        stage.steps()
        return "the other one trains on"

    def _resumes(self, stage: _Stage) -> str:
        stage.operator.stop()
        stage.wait("a saves and ends", lambda: "a" in stage.replicas.ended)
        saved = sum(stage.replicas.checkpoints().values())
        before, reports = stage.reported_step(), len(stage.operator.reports)
        stage.start("c", steps=ENDLESS)
        stage.train(["c"], self._sizes.batch)
        stage.require_going_on("c", before, reports)
        return f"suspended at step {before}, {saved / 1e6:.1f} MB, and resumed"

    def _loss_of(self, stage: _Stage) -> None:
        """Looks whether the loss is a mean: a sum is a quarter as large in passes of a quarter of the examples."""
        if not self._sizes.accumulates:
            self._not_seen(["the loss is a mean"], "its passes are not added up")
            return
        losses = stage.losses()
        first, small = losses.get(1), losses.get(3)
        if not first or not small:
            self._row("the loss is a mean", Verdict.UNSEEN, "the script does not log it: job.log(loss=loss)")
            return
        text = f"{first:.4g} in passes of {self._sizes.batch} examples, {small:.4g} in passes of a quarter"
        if 1 / 6 < small / first < 2 / 5:
            text += (
                ". Is it a sum? Then each example counts less in a small pass: divide it by the examples of the batch,"
                " as reduction='mean' does"
            )
            self._row("the loss is a mean", Verdict.DOUBTFUL, text)
        else:
            self._row("the loss is a mean", Verdict.HOLDS, text)
