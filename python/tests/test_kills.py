"""Replicas and the operator of a real Kastor, ended by SIGKILL at random moments of a training.

``--runs 20`` makes all runs; each has a seed of its own, which is in its name.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from local_kastor import ROOT, LocalKastor, Started, until
from step_records import checked_steps, lines_of

pytest.importorskip("torch")
pytestmark = [pytest.mark.integration, pytest.mark.timeout(3600), pytest.mark.never_retried]

SCRIPT = ROOT / "python" / "tests" / "scripts" / "plain.py"
EXPECTED = {"a replica": 1, "all replicas": 2, "the operator": 1, "a replica and the operator": 2}
VICTIMS = tuple(EXPECTED)
STEP_SECONDS = 0.06


class Victim:
    """Job of two replicas that are killed."""

    def __init__(self, kastor: LocalKastor, name: str, folder: Path) -> None:
        self.kastor, self.name, self.folder = kastor, name, folder
        self.hurry = folder / "hurry"
        self.run: Started = kastor.submit(
            name,
            SCRIPT,
            (2, 2),
            OPTIONS=json.dumps({"epochs": 16}),
            RECORD=str(folder / "{pod}.jsonl"),
            HURRY=str(self.hurry),
        )

    def lines(self) -> list[dict[str, Any]]:
        """Lines that its replicas wrote, in the order of their steps."""
        found = [line for record in self.folder.glob("*.jsonl") for line in lines_of(record)]
        return sorted(found, key=lambda line: (line["generation"], line["step"]))

    def trains(self, after: int, steps: int) -> int:
        """Waits until two replicas have taken so many steps in a generation from ``after`` on; that generation."""
        together: list[int] = []

        def trained() -> bool:
            lines = self.lines()
            newest = [line for line in lines if line["generation"] == lines[-1]["generation"]]
            together[:] = [newest[-1]["generation"]] if newest else []
            both = [line["step"] for line in newest]
            return bool(newest) and newest[0]["generation"] >= after and len(both) - len(set(both)) >= steps

        self.run.wait_until(f"two replicas train in generation {after} or later", trained)
        return together[0]

    def survives(self, victims: str, chance: random.Random, generation: int) -> int:
        """Kills at a random moment of a random step and waits until two replicas train again; their generation."""
        self.trains(generation, chance.randint(3, 20))
        time.sleep(chance.uniform(0, STEP_SECONDS))
        operator, lines = self.kastor.operator(), len(self.lines())
        assert self._kill(victims, chance) == EXPECTED[victims]
        if "operator" in victims:
            self.run.wait_until("another operator is there", lambda: self.kastor.operator() not in ([], operator))
        if "replica" in victims:
            # Who joins has the same bits as those who stayed.
            return self.trains(generation + 1, 3)
        self.run.wait_until("it trains on", lambda: len(self.lines()) > lines + 10)
        return self.trains(generation, 3)

    def _kill(self, victims: str, chance: random.Random) -> int:
        replicas = self.kastor.replicas(self.name)
        targets = replicas if victims == "all replicas" else []
        if "a replica" in victims:
            targets = [chance.choice(replicas)]
        if "operator" in victims:
            targets = targets + self.kastor.operator()
        for target in targets:
            with contextlib.suppress(ProcessLookupError):
                os.kill(target, signal.SIGKILL)
        return len(targets)


def test_no_example_is_lost_or_repeated_whoever_is_killed(kastor: LocalKastor, kill_seed: int, tmp_path: Path) -> None:
    chance = random.Random(4711 + kill_seed)
    victims = VICTIMS[kill_seed % len(VICTIMS)]
    name = f"kills-{kill_seed}"
    job = Victim(kastor, name, tmp_path)
    try:
        generation = job.trains(1, 5)
        for _ in range(2):
            generation = job.survives(victims, chance, generation)
        job.hurry.touch()
        assert job.run.ends() == 0, job.run.said()
    except BaseException:
        logs = kastor.folder / "home" / "logs"
        for log in (logs / "operator.log", *sorted(logs.glob(f"*/{name}-*.log"))):
            print(f"--- {log.name}\n{log.read_text()[-4000:]}")
        raise
    finally:
        job.run.end()

    status = kastor.job(name)["status"]
    training = status["training"]
    assert (status["phase"], training["lostOrRepeatedExamples"]) == ("Succeeded", 0), status
    assert training["finalMetric"] > 0.6, status
    steps = checked_steps(job.lines())
    assert training["step"] == len(steps)
    assert any(len(lines) == 2 for lines in steps.values())
    until("its replicas have ended", lambda: kastor.replicas(name) == [])
