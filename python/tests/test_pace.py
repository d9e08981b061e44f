"""Passes at the pace of an accelerator, on a machine whose clock a test moves, and in replicas."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from conftest import Cluster

from kastor.pace import Machine, Pace, Pacer


class Moved:
    """Machine of two cores whose clock moves when a test says so, or the pacer sleeps."""

    def __init__(self) -> None:
        self.at, self.computed = 100.0, 0.0
        self.machine = Machine(lambda: self.at, self.passes, lambda: self.computed, 2)
        self.pacer = Pacer(Pace(0.02, 0.01), self.machine)

    def passes(self, seconds: float) -> None:
        """Lets time go by in which this process computes nothing."""
        self.at += seconds

    def compute(self, seconds: float) -> None:
        """Computes for some time."""
        self.at += seconds
        self.computed += seconds

    def run(self, computes: float, count: int = 1) -> tuple[float, float]:
        """Passes over 8 examples, a tenth of a second each at this pace: seconds slept first, and in all."""
        before, slept = self.at, 0.0
        for _ in range(count):
            begins = self.at
            self.pacer.begin(8)
            slept = self.at - begins
            self.compute(computes)
            self.pacer.end()
        return slept, self.at - before


def test_a_pace_is_two_numbers_of_seconds() -> None:
    assert Pace.parse(" 0.008  0.0026 ") == Pace(0.008, 0.0026)
    assert Pace(0.008, 0.0026).seconds(10) == pytest.approx(0.034)


@pytest.mark.parametrize("text", ["", "0.008", "1 2 3", "a 1", "-0.1 1", "nan 1", "1 inf", "1800 1800"])
def test_what_is_no_pace_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="two numbers of seconds"):
        Pace.parse(text)


def test_passes_last_as_long_as_their_pace() -> None:
    moved = Moved()
    assert moved.run(0.03, 3)[1] == pytest.approx(0.3)
    assert moved.run(0.0)[1] == pytest.approx(0.1)
    moved.pacer.end()
    assert moved.run(0.02)[1] == pytest.approx(0.1)


def test_what_the_machine_cannot_compute_in_time_takes_longer() -> None:
    assert Moved().run(0.12, 2)[1] == pytest.approx(0.24)


def test_most_is_slept_before_the_computation() -> None:
    moved = Moved()
    slept = [moved.run(computes)[0] for computes in (0.04, 0.04, 0.09, 0.04)]
    assert slept == pytest.approx([0.0, 0.05, 0.05, 0.0375])


def test_passes_that_are_late_are_named_with_the_slots_that_the_machine_paces(
    caplog: pytest.LogCaptureFixture,
) -> None:
    moved = Moved()
    with caplog.at_level(logging.WARNING, logger="kastor"):
        moved.run(0.104, 205)
        assert not caplog.messages
        moved.run(0.12, 100)
        assert caplog.messages == [
            "passes take 1.20 times their pace: this machine is too slow or too busy for it. This replica needs 1.00 of"
            " a core, so that the 2 here pace 2 such slots"
        ]
        moved.run(0.12, 700)
    # Of windows 1, 3 and 7.
    assert len(caplog.messages) == 3


@pytest.mark.integration
@pytest.mark.parametrize("script", ["plain.py", "gan.py"])
def test_replicas_keep_the_pace_and_report_it(cluster: Cluster, script: str) -> None:
    cluster.spec["goodput"]["batchSize"]["gradientAccumulation"] = False
    cluster.variables = {"KASTOR_PACE": "0.02 0.005"}
    cluster.start("a", "b", script=script)
    cluster.ready("a", "b")
    cluster.want(["a", "b"], 8)
    cluster.wait("times of steps", lambda: profiles(cluster))
    cluster.close()
    for each in profiles(cluster):
        # The pass and the update of the slowest replica, without what it waits for others.
        assert each["stepSeconds"] - each["syncSeconds"] >= 0.02 + 0.005 * each["atomicBatchSize"]


def profiles(cluster: Cluster) -> list[dict[str, Any]]:
    """Times of steps in all reports."""
    return [each for report in cluster.operator.reports for each in report["profiles"]]
