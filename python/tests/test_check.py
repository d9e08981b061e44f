"""A check of a script says what holds, what does not, and what to do."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest
from pods import HERE

from kastor.check.__main__ import main
from kastor.check.stages import _FIGURE

pytest.importorskip("torch")


def check(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, way: str, *options: str
) -> tuple[int, dict[str, tuple[str, str]], str]:
    """Exit status, verdict and text by name of row, and all that was printed."""
    monkeypatch.setenv("PYTHONPATH", str(HERE.parent / "src"))
    script = str(HERE / "scripts" / "checked.py")
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    status = main(["--batch", "16", "--steps", "20", "--patience", "900", *options, "--", sys.executable, script, way])
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
    printed = capfd.readouterr().out
    rows = re.findall(r"(?m)^(ok|failed|look|not seen) +(\S.*?)  +(.*)$", printed)
    return status, {name: (verdict, text) for verdict, name, text in rows}, printed


@pytest.mark.integration
def test_finds_sums_that_raise_no_error(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keep = tmp_path / "kept"
    status, rows, printed = check(capfd, monkeypatch, "sums", "--per-replica", "64", "--keep", str(keep))
    assert status == 0, printed
    assert {name: verdict for name, (verdict, _) in rows.items()} == {
        "one replica": "ok",
        "two replicas": "ok",
        "replicas are equal": "ok",
        "examples": "ok",
        "metrics": "look",
        "a replica joins": "ok",
        "smaller passes": "ok",
        "64 a replica": "ok",
        "a replica is killed": "ok",
        "goes on from a checkpoint": "ok",
        "the loss is a mean": "look",
    }, printed
    assert "20 steps of 1 x 16 examples" in rows["one replica"][1]
    assert "20 steps of 2 x 8 examples" in rows["two replicas"][1]
    assert "hits 1 by one and 0.5 by two" in rows["metrics"][1]
    assert "hits halves: is it a sum over this replica's share" in rows["metrics"][1]
    assert "Is it a sum?" in rows["the loss is a mean"][1]
    assert re.search(r"(?m)^9 ok, 2 look in \d+ s$", printed)
    assert (keep / "changes" / "a.log").exists()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("way", "row", "text"),
    [
        ("no replica", "one replica", r"ended with status 0 and was no replica: a script calls kastor.torch.init"),
        # test_alone.py has the rule, and test_drift.py the other one.
        pytest.param(
            "scheduler",
            "one replica",
            r"The StepLR of the optimizer is stepped, and prepare\(\) was not given it",
            marks=pytest.mark.nightly,
        ),
        pytest.param("drift", "two replicas", r"Replicas differ at step 2, in model.bias", marks=pytest.mark.nightly),
    ],
)
def test_says_the_rule_that_a_script_breaks_and_goes_no_further(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, way: str, row: str, text: str
) -> None:
    status, rows, printed = check(capfd, monkeypatch, way)
    assert status == 1, printed
    assert rows[row][0] == "failed"
    assert re.search(text, rows[row][1]), printed
    assert [verdict for verdict, _ in rows.values()].count("failed") == 1
    assert list(rows)[-1] == row


@pytest.mark.integration
@pytest.mark.nightly  # test_alternating.py trains by two optimizers in the gate.
def test_takes_a_script_with_two_optimizers_through_all_but_accumulation(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, rows, printed = check(capfd, monkeypatch, "two optimizers")
    assert (status, rows["one replica"][0]) == (1, "failed"), printed
    assert "gradientAccumulation to false" in rows["one replica"][1]
    status, rows, printed = check(capfd, monkeypatch, "two optimizers", "--no-accumulation", "--per-replica", "64")
    assert status == 0, printed
    assert "smaller passes" not in rows
    assert rows["a replica is killed"][0] == rows["goes on from a checkpoint"][0] == "ok"
    assert rows["the loss is a mean"][0] == "not seen"


@pytest.mark.integration
@pytest.mark.nightly  # The gate has the rows of these in the tests above.
@pytest.mark.parametrize(
    ("way", "row", "verdict", "text"),
    [
        (
            "memory",
            "64 a replica",
            "failed",
            "Memory ran out at 64 examples a pass: run it with --per-replica and fewer",
        ),
        ("short", "a replica joins", "not seen", "work was done before"),
    ],
)
def test_says_where_memory_or_work_ends(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, way: str, row: str, verdict: str, text: str
) -> None:
    status, rows, printed = check(capfd, monkeypatch, way)
    assert status == (1 if verdict == "failed" else 0), printed
    assert rows[row][0] == verdict, printed
    assert text in rows[row][1]
    assert rows["goes on from a checkpoint"][0] == "not seen"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--batch", "2", "--", "python"], "at least 4"),
        (["--batch", "32", "--per-replica", "16", "--", "python"], "takes the whole batch of 32"),
        (["--steps", "0", "--", "python"], "must be above 0"),
        (["--", "no-such-program"], "there is no command no-such-program"),
        (["--keep", ".", "--", "python"], "exists; name a folder that does not"),
    ],
)
def test_refuses_what_cannot_be_checked(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_reads_metrics_from_last_words() -> None:
    assert _FIGURE.findall("completed 30 steps, accuracy 0.5, loss 1.2e-05, f1 -3") == [
        ("accuracy", "0.5"),
        ("loss", "1.2e-05"),
        ("f1", "-3"),
    ]
