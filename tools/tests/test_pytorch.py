"""Tests of the installer of PyTorch where it cannot install: one line says why, and nothing half made is left."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

INSTALLER = pathlib.Path(__file__).parents[1] / "pytorch.py"


def start(cache: pathlib.Path, *options: str, **variables: str) -> subprocess.Popen[str]:
    """Starts an installation into a cache of its own, from a registry that never answers."""
    # Nobody listens on port 1.
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:1/simple", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}
    chosen = {"KASTOR_PYTORCH_CACHE": str(cache), "KASTOR_PYTHON": sys.executable}
    return subprocess.Popen(
        [sys.executable, str(INSTALLER), *options],
        env={**os.environ, **nowhere, **chosen, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def last_line(process: subprocess.Popen[str]) -> str:
    """What a failed installation says at its end; its standard output, which callers take for a path, is empty."""
    out, err = process.communicate(timeout=6000)
    assert process.returncode == 1
    assert out == ""
    return err.splitlines()[-1]


def python(folder: pathlib.Path, answer: str) -> str:
    """A program that answers as a Python would."""
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("echo 3 10", "is 3.10. Set KASTOR_PYTHON"),
        ("echo 3 15", "is 3.15. Set KASTOR_PYTHON"),
        ("exit 1", "does not run. Set KASTOR_PYTHON"),
        ("echo 3 12; exit 1", "has no venv (Debian has it in the package python3-venv). Set KASTOR_PYTHON"),
    ],
)
def test_unsuitable_python_is_refused_with_the_remedy(tmp_path: pathlib.Path, answer: str, reason: str) -> None:
    cache = tmp_path / "cache"
    assert reason in last_line(start(cache, KASTOR_PYTHON=python(tmp_path, answer)))
    assert not cache.exists()


@pytest.mark.integration
def test_registry_that_does_not_answer_is_told_in_a_line_and_leaves_the_log_alone(tmp_path: pathlib.Path) -> None:
    cache = tmp_path / "cache"
    said = last_line(start(cache, "--frameworks"))
    (log,) = cache.iterdir()
    assert said.endswith(f"the package registry does not answer; is there a network? The log is {log}")


@pytest.mark.integration
def test_installation_that_is_ended_removes_what_it_made(tmp_path: pathlib.Path) -> None:
    cache = tmp_path / "cache"
    process = start(cache)
    deadline = time.monotonic() + 600
    while not list(cache.glob("*.partial")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=600)
    assert process.returncode == 143
    assert list(cache.glob("*.partial")) == []


def test_removal_takes_environments_alone(tmp_path: pathlib.Path) -> None:
    cache = tmp_path / "cache"
    for name in ("python3.11-0123456789ab", "python3.11-frameworks-0123456789ab.partial"):
        (cache / name / "bin").mkdir(parents=True)
    (cache / "python3.11-0123456789ab.log").touch()
    (cache / "notes").touch()
    process = start(cache, "--remove")
    process.communicate(timeout=600)
    assert process.returncode == 0
    assert [entry.name for entry in cache.iterdir()] == ["notes"]
