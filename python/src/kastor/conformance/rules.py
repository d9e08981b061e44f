"""Rules of the agent protocol, and the watch that holds the requests of replicas against them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RULES = {
    "poll": "A poll has the parameters that the document lists, with values that they may have.",
    "client": "A poll names the client and its version.",
    "one-poll": "A replica has one poll under way, and for a moment the next one, which ends it.",
    "no-gaps": "A replica polls without a break for as long as it lives, and pauses where it gets errors.",
    "phases": "Phases come in the order of the protocol.",
    "generations": "A replica is in the newest generation that it joined, as one of its members, and never goes back.",
    "steps": "The step of a replica never goes back.",
    "token": "Each request has the token that the file holds at that time.",
    "report": "A report has all fields that it needs, no other, and values within the bounds.",
    "reporter": "Rank 0 reports, with the replicas and the batch of the generation that it names.",
    "sequence": "The sequence grows with each report of a sender that arrived.",
    "progress": "Steps and examples that were reported never go back.",
    "start": "A replica gets ready, is made a member alone, and trains.",
    "unknown": "An action that the client does not know counts as WAIT, and unknown fields are ignored.",
    "busy": "Answers 429 and 503 stop neither the training nor, once they end, polls and reports.",
    "new-operator": "Where Kastor-Term changes, all step times are told once more.",
    "new-token": "A token that is renewed is used from the next request on.",
    "grow": "Members train on while others start, and train together with them from the generation that lists all.",
    "batch": "A generation with another batch alone is followed.",
    "shrink": "A member that is not listed any more says LEFT and ends with 0; the others go on.",
    "killed": "Where a member dies the others say BROKEN, and take the same step again in the generation that follows.",
    "terminated": "After SIGTERM a member trains on until it is taken out.",
    "stop": "On STOP all end with STOPPED and 0, and the report of rank 0 tells of a checkpoint of the last step.",
    "resume": "A replica that starts where nobody has state goes on from the newest checkpoint.",
    "all-killed": "After the death of all a replica goes on from the newest checkpoint that was reported.",
    "leave": "A replica that waits and is told to leave says LEFT, ends with 0, and saves nothing.",
    "protocol": "Under an operator of a newer and of an older protocol all train, and send no unknown field.",
    "complete": "Once the work is done all end with COMPLETED and 0, and the last report tells it.",
    "last-words": "A replica that ends by itself leaves an outcome as the document describes it.",
    "audit": "No outcome tells of an example that was lost or trained twice.",
}

_FOLLOWS = {
    "STARTING": {"STARTING", "READY"},
    "READY": {"READY", "TRAINING", "BROKEN"},
    "TRAINING": {"TRAINING", "BROKEN"},
    "BROKEN": {"BROKEN", "TRAINING"},
}

_LONGEST_GAP_SECONDS = 12.0
_MOST_REQUESTS, _WINDOW_SECONDS = 500, 10.0


@dataclass
class Verdict:
    """Verdict on one rule: how often it was tried, and each way in which it was broken."""

    tried: int = 0
    faults: list[str] = field(default_factory=list)
    skipped: str = ""

    @property
    def passed(self) -> bool:
        """Whether it was tried and never broken."""
        return self.tried > 0 and not self.faults


class Rulebook:
    """Verdicts on all rules, in the order in which they are shown. The operator's lock guards it."""

    def __init__(self) -> None:
        self.verdicts = {name: Verdict() for name in RULES}

    def judge(self, rule: str, fault: str = "") -> None:
        """Counts a try of a rule; a fault says how it was broken."""
        verdict = self.verdicts[rule]
        verdict.tried += 1
        if fault and fault not in verdict.faults:
            verdict.faults.append(fault)

    def broken(self) -> list[str]:
        """Names of the rules that were broken."""
        return [name for name, verdict in self.verdicts.items() if verdict.faults]


@dataclass
class _Replica:
    """State of a replica as its polls tell it.

    A poll that was sent before another may arrive after it; so what it says counts as going back only
    where the poll after it says the same.
    """

    phase: str = "STARTING"
    generation: int = 0
    step: int = -1
    doubts: dict[str, str] = field(default_factory=dict)
    under_way: int = 0
    free_since: float | None = None
    requests: deque[float] = field(default_factory=deque)


class Watch:
    """Watch over the requests to a scripted operator. The operator's lock guards it."""

    def __init__(self, rules: Rulebook) -> None:
        self.rules = rules
        self._replicas: dict[str, _Replica] = {}
        self._members: dict[int, list[str]] = {}
        self._plans: dict[int, Mapping[str, int]] = {}
        self._sequences: dict[str, tuple[int, Any]] = {}
        self._progress: tuple[int, int] = (0, 0)

    def published(self, generation: int, members: list[str], plan: Mapping[str, int]) -> None:
        """Takes note of a generation."""
        self._members[generation], self._plans[generation] = members, plan

    def gone(self, pod: str) -> None:
        """Forgets a replica that has ended."""
        self._replicas.pop(pod, None)

    def restarted(self) -> None:
        """Takes note that all replicas died: what was not saved is trained again."""
        self._progress = (0, 0)

    def requested(self, pod: str) -> None:
        """Takes note of any request of a replica."""
        requests, now = self._of(pod).requests, time.monotonic()
        requests.append(now)
        while now - requests[0] > _WINDOW_SECONDS:
            requests.popleft()
        if len(requests) > _MOST_REQUESTS:
            self.rules.judge("no-gaps", f"{pod}: {len(requests)} requests in {_WINDOW_SECONDS:.0f} s")

    def poll_began(self, pod: str, query: Mapping[str, str]) -> None:
        """Holds a poll that is right by itself against those before it."""
        replica, judge = self._of(pod), self.rules.judge
        now = time.monotonic()
        gap = now - replica.free_since if replica.free_since is not None and replica.under_way == 0 else 0.0
        judge("no-gaps", f"{pod}: no poll for {gap:.0f} s" if gap > _LONGEST_GAP_SECONDS else "")
        replica.under_way += 1
        fault = f"{pod}: {replica.under_way} polls at once" if replica.under_way > 2 else ""
        judge("one-poll", fault)
        judge("client", "" if query.get("client", "").strip() else f"{pod}: there is no client=NAME/VERSION")
        phase, generation, step = query["phase"], int(query["generation"]), int(query.get("step", "-1"))
        self._phase(pod, replica, phase, generation)
        self._generation(pod, replica, phase, generation)
        back = f"{pod}: step {step} after {replica.step}" if step < replica.step else ""
        if self._settled(replica, "steps", back):
            replica.step = step

    def poll_ended(self, pod: str) -> None:
        """Takes note of an answer to a poll, or of its end without one."""
        replica = self._replicas.get(pod)
        if replica is not None:
            replica.under_way = max(0, replica.under_way - 1)
            replica.free_since = time.monotonic()

    def _of(self, pod: str) -> _Replica:
        return self._replicas.setdefault(pod, _Replica())

    def _settled(self, replica: _Replica, rule: str, fault: str) -> bool:
        """Whether a poll agrees with a rule; a fault counts once two polls in a row have one."""
        doubt = replica.doubts.pop(rule, "")
        if fault and not doubt:
            replica.doubts[rule] = fault
            return False
        self.rules.judge(rule, fault and doubt)
        return True

    def _phase(self, pod: str, replica: _Replica, phase: str, generation: int) -> None:
        fault = ""
        if phase not in _FOLLOWS[replica.phase]:
            fault = f"{pod}: {phase} after {replica.phase}"
        elif (generation == 0) != (phase in ("STARTING", "READY")):
            fault = f"{pod}: {phase} in generation {generation}"
        if self._settled(replica, "phases", fault):
            replica.phase = phase

    def _generation(self, pod: str, replica: _Replica, phase: str, generation: int) -> None:
        fault = ""
        if generation < replica.generation:
            fault = f"{pod}: generation {generation} after {replica.generation}"
        elif generation > 0 and pod not in self._members.get(generation, ()):
            fault = f"{pod}: {phase} in generation {generation}, which does not list it"
        if self._settled(replica, "generations", fault):
            replica.generation = generation

    def reported(self, report: Mapping[str, Any]) -> bool:
        """Holds a report that is right by itself against those before it; False if it is a repetition."""
        pod, generation = report["pod"], report["generation"]
        members, judge = self._members.get(generation, []), self.rules.judge
        fault = ""
        if members[:1] != [pod]:
            fault = f"{pod} is not rank 0 of generation {generation}"
        elif report["replicas"] != len(members):
            fault = f"{pod}: {report['replicas']} replicas in generation {generation}, which has {len(members)}"
        elif dict(report["batch"]) != dict(self._plans[generation]):
            fault = f"{pod}: batch {report['batch']} in generation {generation} of {dict(self._plans[generation])}"
        judge("reporter", fault)
        last, body = self._sequences.get(pod, (-1, None))
        repeated = report["sequence"] <= last
        fault = f"{pod}: sequence {report['sequence']} after {last}" if repeated and report != body else ""
        judge("sequence", fault)
        if repeated:
            return False
        self._sequences[pod] = (report["sequence"], report)
        now = (report["progress"]["step"], report["progress"]["examples"])
        back = now[0] < self._progress[0] or now[1] < self._progress[1]
        judge("progress", f"{pod}: steps and examples {now} after {self._progress}" if back else "")
        self._progress = max(now, self._progress)
        return True
