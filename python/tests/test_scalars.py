"""Scalars that a script logs: names, means, the file of them, and what the operator is told."""

from __future__ import annotations

import json
import logging
import math
import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_operator import ScriptedOperator
from test_clients import config, sample

from kastor.errors import UsageError
from kastor.operator import OperatorClient
from kastor.scalars import MOST_SCALARS, ScalarFile, ScalarMeans, check_name
from kastor.telemetry import TelemetryClient


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[ScriptedOperator]:
    made = ScriptedOperator(tmp_path)
    try:
        yield made
    finally:
        made.close()


def client(operator: ScriptedOperator, folder: Path, protocol: int) -> TelemetryClient:
    settings = replace(config(operator, folder), protocol=protocol)
    return TelemetryClient(OperatorClient(settings), settings)


@pytest.mark.parametrize("name", ["a", "loss", "Val/top-1_acc.mean", "x" * 64, "kastor"])
def test_takes_a_name_that_the_operator_takes(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize("name", ["", "a b", "ä", "a\n", "x" * 65, "kastor/goodput", 'a"b', "a,b"])
def test_refuses_a_name_that_the_operator_refuses(name: str) -> None:
    with pytest.raises(UsageError, match="Names have 1 to 64 characters"):
        check_name(name)


def test_means_are_of_finite_values_and_of_the_first_names() -> None:
    means = ScalarMeans()
    assert means.means() == {}
    means.add({"a": 1.0, "b": math.nan})
    means.add({"a": 2.0, "c": math.inf})
    assert means.means() == {"a": 1.5}
    later = ScalarMeans()
    later.add({"a": 6.0, "d": 1e308})
    later.add({"d": 1e308})
    means.add_all(later)
    assert means.means() == {"a": 3.0}  # the sum of d is beyond a double
    assert means.add({f"s{i}": 1.0 for i in range(MOST_SCALARS)}) == ["s62", "s63"]
    assert means.add({"s0": 3.0}) == []
    assert means.means()["s0"] == 2.0


@pytest.mark.slow
def test_reports_means_since_the_last_report(
    operator: ScriptedOperator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    telemetry = client(operator, tmp_path, 2)
    telemetry.start()
    try:
        telemetry.logged({"accuracy": 0.5, "val/loss": 2.0})
        telemetry.logged({"accuracy": 0.7})
        telemetry.stepped(sample())
        operator.wait("a report", lambda: operator.reports)
        assert operator.reports[0]["scalars"] == {"accuracy": pytest.approx(0.6), "val/loss": 2.0}
        # After the last step of an epoch nothing else is new.
        telemetry.logged({"val/loss": 1.0})
        operator.wait("another report", lambda: len(operator.reports) == 2)
        assert operator.reports[1]["scalars"] == {"val/loss": 1.0}
        telemetry.stepped(sample(step=2))
        operator.wait("a third report", lambda: len(operator.reports) == 3)
        assert "scalars" not in operator.reports[2]
        operator.away = True
        telemetry.logged({"val/loss": 3.0})
        operator.wait("it notices", lambda: "did not reach the operator" in caplog.text)
        telemetry.logged({"val/loss": 5.0})
        operator.away = False
        operator.wait("what was kept", lambda: len(operator.reports) == 4)
        assert operator.reports[3]["scalars"] == {"val/loss": 4.0}
        for _ in range(2):
            telemetry.logged({f"s{i}": 1.0 for i in range(MOST_SCALARS + 1)})
        operator.wait("a bounded report", lambda: len(operator.reports) == 5)
        assert len(operator.reports[4]["scalars"]) == MOST_SCALARS
        assert caplog.text.count("more than 64 scalars are logged: s64 and others are left out") == 1
    finally:
        telemetry.close()
    assert operator.refusals == []


def test_an_older_operator_is_told_none(operator: ScriptedOperator, tmp_path: Path) -> None:
    telemetry = client(operator, tmp_path, 1)
    telemetry.start()
    try:
        telemetry.logged({"accuracy": 0.5})
        telemetry.stepped(sample())
        operator.wait("a report", lambda: operator.reports)
        assert "scalars" not in operator.reports[0]
    finally:
        telemetry.close()


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_a_file_has_each_value_that_is_logged(tmp_path: Path) -> None:
    folder = tmp_path / "of" / "mine"
    ScalarFile(folder).write(0, {"loss": math.nan})
    assert list(folder.iterdir()) == []  # nothing was written, as by the replicas that are not rank 0
    ScalarFile(folder).write(3, {"loss": 0.5, "accuracy": math.inf})
    ScalarFile(folder).write(4, {"loss": 0.25, "accuracy": 0.75})
    found = lines(folder)
    assert [(line["step"], line["name"], line["value"]) for line in found] == [
        (3, "loss", 0.5),
        (4, "loss", 0.25),
        (4, "accuracy", 0.75),
    ]
    assert all(line["time"].endswith("Z") and "T" in line["time"] for line in found)


def test_a_file_that_cannot_be_written_ends_no_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = ScalarFile(tmp_path)
    file.write(1, {"loss": 0.5})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (tmp_path / "metrics.jsonl").stat().st_size
    # As on a full disk: the file may grow by half a line more.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, before[1]))
    try:
        with caplog.at_level(logging.WARNING, "kastor"):
            file.write(2, {"loss": 0.5})
            file.write(3, {"loss": 0.5})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [line["step"] for line in lines(tmp_path)] == [1]
    assert caplog.text.count("scalars are no longer written") == 1
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        ScalarFile(tmp_path / "file" / "folder")
