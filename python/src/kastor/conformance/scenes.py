"""Scenes of a job's life through which the kit takes replicas of a command."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kastor.conformance.document import ApiDocument
from kastor.conformance.operator import PROTOCOL, ScriptedOperator
from kastor.conformance.replicas import Replicas
from kastor.conformance.rules import Rulebook

_NEWER_PROTOCOL, _OLDEST_PROTOCOL = 99, 1
_SHORT_WORK = 40
_BUSY_SECONDS = 2.0
_LONGEST_WAIT_SECONDS = 2.0
_EXIT = {"COMPLETED": {0}, "STOPPED": {0}, "LEFT": {0}, "FAILED_PERMANENTLY": {64}}


class SceneFailed(Exception):
    """Failure of a scene; the message says what did not happen."""


class Story:
    """Story of one job: an operator and the replicas that it steers.

    Args:
        command: that starts a replica.
        spec: fields of the job's spec.
        rules: where verdicts go.
        patience: seconds that each thing may take which a scene waits for.
        keep: folder in which files stay; a temporary one otherwise.
    """

    def __init__(
        self, command: Sequence[str], spec: Mapping[str, Any], rules: Rulebook, patience: float, keep: Path | None
    ) -> None:
        self.rules, self.patience, self._keep = rules, patience, keep
        if keep is not None:
            keep.mkdir(parents=True)
        self._folder = keep or Path(tempfile.mkdtemp(prefix="kastor-conformance-"))
        self.operator = ScriptedOperator(self._folder, rules=rules, longest_wait=_LONGEST_WAIT_SECONDS)
        self.replicas = Replicas(self._folder, self.operator, command, spec)
        self._document = ApiDocument.shipped()

    def __enter__(self) -> Story:
        """Returns itself; the operator listens from when it was made."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends all processes and the operator."""
        self.replicas.close()
        self.operator.close()
        if self._keep is None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def tell(self) -> None:
        """Plays all scenes of the story."""
        raise NotImplementedError

    # --- what scenes do ---

    def play(self, scenes: Sequence[tuple[str, Callable[[], None]]]) -> None:
        """Plays scenes one after another until one fails."""
        for index, (rule, scene) in enumerate(scenes):
            try:
                scene()
                self.rules.judge(rule)
            except SceneFailed as failure:
                self.rules.judge(rule, str(failure))
                for later, _ in scenes[index + 1 :]:
                    self.rules.verdicts[later].skipped = f"after {rule} failed"
                return

    def wait(self, what: str, holds: Callable[[], Any], lives: str = "") -> None:
        """Waits until something holds, while the replica ``lives`` is alive."""
        end = time.monotonic() + self.patience
        with self.operator.changed:
            while not holds():
                if lives and lives in self.replicas.ended:
                    status = self.replicas.ended[lives]
                    printed = self.replicas.printed(lives)
                    raise SceneFailed(f"{lives} ended with {status} before {what}; it printed:\n{printed}")
                if time.monotonic() > end:
                    raise SceneFailed(f"not within {self.patience:.0f} s (--patience): {what}; {self.standing()}")
                self.operator.changed.wait(0.05)

    def standing(self) -> str:
        """Where the replicas are, by their last polls."""
        polls = [
            f"{pod} is {state['phase']} in generation {state['generation']} at step {state.get('step')}"
            for pod, state in self.operator.states.items()
        ]
        ended = [f"{pod} ended with {status}" for pod, status in self.replicas.ended.items()]
        return ", ".join([f"the newest generation is {self.operator.generation}", *polls, *ended])

    def start(self, pod: str, **options: Any) -> None:
        """Starts a replica and waits until it could be a member."""
        self.replicas.start(pod, **options)
        self.ready(pod)

    def ready(self, pod: str) -> None:
        """Waits until a replica could be a member."""
        self.wait(f"{pod} is READY", lambda: self.operator.states.get(pod, {}).get("phase") == "READY", pod)

    def train(self, pods: Sequence[str], atomic: int, accumulation: int = 0) -> None:
        """Publishes a generation, and waits until its members have taken steps in it."""
        self.operator.want(list(pods), atomic, accumulation)
        self.wait(f"{', '.join(pods)} train together", self.operator.settled, pods[0])
        self.steps()

    def steps(self, more: int = 3) -> None:
        """Waits until the job has reported more steps in the newest generation."""
        before = self.reported_step()
        generation = self.operator.generation

        def goes_on() -> bool:
            reports = self.operator.reports
            return bool(reports) and reports[-1]["generation"] == generation and self.reported_step() >= before + more

        self.wait(f"{more} more steps than {before} are reported in generation {generation}", goes_on)

    def reported_step(self) -> int:
        """Steps in the newest report; 0 before the first."""
        return int(self.operator.reports[-1]["progress"]["step"]) if self.operator.reports else 0

    def require_going_on(self, pod: str, step: int, reports: int) -> None:
        """Checks that the first of the reports after so many is not of a step before that of the checkpoint."""
        first = self.operator.reports[reports]["progress"]["step"]
        if first < step:
            raise SceneFailed(f"{pod} goes on from step {first}, not from the checkpoint of step {step}")

    def ends(self, pod: str, kind: str) -> None:
        """Waits until a replica has ended, and checks its last words and its exit code."""
        self.wait(f"{pod} ends with {kind}", lambda: pod in self.replicas.ended)
        status, outcome = self.replicas.ended[pod], self.replicas.outcome(pod)
        if outcome is None:
            self.rules.judge("last-words", f"{pod} ended with {status} and left none")
            raise SceneFailed(
                f"{pod} ended with {status} and without last words; it printed:\n" + self.replicas.printed(pod)
            )
        wrong = self._document.wrong("Outcome", outcome, self.operator.protocols.get(pod, PROTOCOL))
        if not wrong and status not in _EXIT.get(outcome["kind"], set(range(1, 256)) - {64}):
            wrong = f"{outcome['kind']} with exit code {status}"
        self.rules.judge("last-words", wrong and f"{pod}: {wrong}")
        if wrong:
            raise SceneFailed(f"the last words of {pod} are wrong: {wrong}")
        lost = outcome["lostOrRepeatedExamples"]
        self.rules.judge("audit", f"{pod}: {lost} examples" if lost else "")
        if outcome["kind"] != kind:
            raise SceneFailed(f"{pod} ended with {outcome['kind']}, not {kind}: {outcome['message']}")


class Life(Story):
    """Story of a job that starts, grows, shrinks, loses replicas, stops and goes on."""

    def tell(self) -> None:
        """Plays all its scenes."""
        self.play(
            [
                ("start", self._start),
                ("unknown", self._unknown),
                ("busy", self._busy),
                ("grow", self._grow),
                ("new-operator", self._new_operator),
                ("new-token", self._new_token),
                ("batch", lambda: self.train("abc", 6, 1)),
                ("shrink", self._shrink),
                ("killed", self._killed),
                ("terminated", self._terminated),
                ("stop", self._stop),
                ("resume", self._resume),
                ("all-killed", self._all_killed),
            ]
        )

    def _start(self) -> None:
        self.start("a")
        self.train("a", 32)

    def _unknown(self) -> None:
        generation = self.operator.states["a"]["generation"]
        polls = self.operator.polls["a"]
        self.operator.unknown_action = "REFLECT"
        self.wait("a polls on", lambda: self.operator.polls["a"] >= polls + 3, "a")
        self.steps()
        self.operator.unknown_action = ""
        state = self.operator.states["a"]
        if (state["phase"], state["generation"]) != ("TRAINING", generation):
            raise SceneFailed(f"a does not train on in generation {generation}: {state}")

    def _busy(self) -> None:
        for status in (429, 503):
            self.operator.status = status
            time.sleep(_BUSY_SECONDS)
        polls = self.operator.polls["a"]
        self.operator.status = 0
        self.wait("a polls again", lambda: self.operator.polls["a"] > polls, "a")
        self.steps()

    def _grow(self) -> None:
        for pods, atomic in (("ab", 16), ("abc", 12)):
            before = self.reported_step()
            self.start(pods[-1])
            if self.reported_step() == before:
                self.steps(1)
            self.train(pods, atomic)

    def _new_operator(self) -> None:
        def shapes(reports: Sequence[Mapping[str, Any]]) -> set[tuple[Any, ...]]:
            profiles = [p for r in reports if r["pod"] == "a" for p in r["profiles"]]
            return {(p["nodes"], p["replicas"], p["atomicBatchSize"], p.get("gpuType", "")) for p in profiles}

        self.wait("a reports step times", lambda: len(shapes(self.operator.reports)) > 1, "a")
        with self.operator.changed:
            told, count = shapes(self.operator.reports), len(self.operator.reports)
            self.operator.term = "2"
        self.wait(
            f"one report has the step times of all of {sorted(told)}",
            lambda: any(shapes([report]) >= told for report in self.operator.reports[count:]),
            "a",
        )

    def _new_token(self) -> None:
        old, new = self.operator.token("a"), "another token of a"
        with self.operator.changed:
            self.operator.tokens["a"] = {old, new}
            self.replicas.write_token("a", new)
        # A request that was made with the old one may be under way.
        time.sleep(0.5)
        with self.operator.changed:
            self.operator.tokens["a"] = {new}
            polls, refused = self.operator.polls["a"], len(self.operator.refusals)
        self.wait("a polls again", lambda: self.operator.polls["a"] > polls, "a")
        self.steps()
        if any("401" in refusal for refusal in self.operator.refusals[refused:]):
            raise SceneFailed("a still shows the old token")

    def _shrink(self) -> None:
        self.train("ab", 16)
        self.ends("c", "LEFT")

    def _killed(self) -> None:
        self.start("d")
        self.train("abd", 12)
        broken: set[str] = set()

        def said() -> bool:
            broken.update(pod for pod in "ab" if self.operator.states.get(pod, {}).get("phase") == "BROKEN")
            return broken == {"a", "b"}

        self.replicas.hidden_deaths.add("d")
        self.replicas.signal("d", signal.SIGKILL)
        self.wait("a and b poll as BROKEN after d was killed", said, "a")
        self.operator.died("d")
        self.wait("a and b train together", self.operator.settled, "a")
        self.steps()

    def _terminated(self) -> None:
        self.replicas.signal("b", signal.SIGTERM)
        polls = self.operator.polls["b"]
        self.wait("b polls on", lambda: self.operator.polls["b"] > polls, "b")
        self.steps()
        if "b" in self.replicas.ended:
            raise SceneFailed(f"b ended with {self.replicas.ended['b']} after SIGTERM, while it was a member")
        self.train("a", 32)
        self.ends("b", "LEFT")

    def _stop(self) -> None:
        self.operator.stop()
        self.ends("a", "STOPPED")
        last = self.operator.reports[-1]
        outcome = self.operator.outcome
        if outcome is None or outcome["kind"] != "STOPPED":
            raise SceneFailed(f"the outcome in the last report is {outcome}")
        if last.get("checkpoint", {}).get("step") != last["progress"]["step"]:
            raise SceneFailed(
                f"the last report is of step {last['progress']['step']} and tells of {last.get('checkpoint')}"
            )

    def _resume(self) -> None:
        step, reports = self.reported_step(), len(self.operator.reports)
        self.start("e")
        self.train("e", 32)
        self.require_going_on("e", step, reports)

    def _all_killed(self) -> None:
        stopped = self.reported_step()

        def saved() -> int:
            return max((int(r["checkpoint"]["step"]) for r in self.operator.reports if "checkpoint" in r), default=-1)

        self.wait("e reports another checkpoint", lambda: saved() > stopped, "e")
        step = saved()
        self.replicas.signal("e", signal.SIGKILL)
        self.wait("e is dead", lambda: "e" in self.replicas.ended)
        reports = len(self.operator.reports)
        self.start("f")
        self.train("f", 32)
        self.require_going_on("f", step, reports)


class Leaver(Story):
    """Story of a replica that is not needed any more before it was a member."""

    def tell(self) -> None:
        """Plays its scene."""
        self.play([("leave", self._leave)])

    def _leave(self) -> None:
        self.start("a")
        with self.operator.changed:
            self.operator.leaving.add("a")
            self.operator.changed.notify_all()
        self.ends("a", "LEFT")
        if self.replicas.checkpoints():
            raise SceneFailed(f"it left checkpoints: {sorted(map(os.path.basename, self.replicas.checkpoints()))}")


class Versions(Story):
    """Story of replicas that do a short work under operators of other versions of the protocol."""

    def tell(self) -> None:
        """Plays its scenes."""
        self.play([("protocol", self._protocol), ("complete", self._complete)])

    def _protocol(self) -> None:
        for pod, protocol in (("a", _OLDEST_PROTOCOL), ("b", _NEWER_PROTOCOL)):
            self.replicas.start(pod, steps=_SHORT_WORK, protocol=protocol)
        for pod in "ab":
            self.ready(pod)
        refused = len(self.operator.refusals)
        self.operator.want(["a", "b"], 16)
        self.wait("a reports steps", lambda: self.reported_step() > 0, "")
        if self.operator.refusals[refused:]:
            raise SceneFailed(self.operator.refusals[refused])

    def _complete(self) -> None:
        for pod in "ab":
            self.ends(pod, "COMPLETED")
        outcome = self.operator.outcome
        if outcome is None or outcome["kind"] != "COMPLETED":
            raise SceneFailed(f"the outcome in the last report is {outcome}")


def play_all(
    command: Sequence[str],
    spec: Mapping[str, Any],
    patience: float = 120,
    keep: Path | None = None,
    told: Callable[[str], None] = lambda name: None,
    stories: Sequence[type[Story]] = (Life, Leaver, Versions),
) -> Rulebook:
    """Verdicts on all rules, after stories were told with replicas of a command."""
    rules = Rulebook()
    for kind in stories:
        name = kind.__name__.lower()
        told(name)
        with kind(command, spec, rules, patience, keep / name if keep is not None else None) as story:
            story.tell()
    return rules
