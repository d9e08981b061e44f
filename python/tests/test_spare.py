"""Spare processes: a script finds in one what it would find in an interpreter of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pods import python_path

pytest.importorskip("torch")
pytestmark = pytest.mark.integration

SCRIPT = Path(__file__).parent / "scripts" / "circumstances.py"
WAIT = "import sys; '' in sys.path[:1] and sys.path.pop(0); import kastor.spare; exec(kastor.spare.ready())"


def run(command: list[str], text: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Interpreter that has ended."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": python_path().rstrip(os.pathsep), **variables}
    return subprocess.run(
        [sys.executable, *command], input=text, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )


def become(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Process that waited for a pod, once that has ended."""
    pod = {"environment": variables, "arguments": arguments, "folder": str(folder)}
    waits = folder / "waits"
    waits.mkdir(exist_ok=True)
    ended = run(["-u", "-c", WAIT], json.dumps(pod) + "\n", waits, KASTOR_SPARE="true", KASTOR_LOCAL_FOLDER=str(waits))
    assert (waits / "ready").exists(), ended.stderr
    return ended


def test_a_script_finds_what_it_would_find_alone(tmp_path: Path) -> None:
    alone = run(["-u", str(SCRIPT), "-x", "a b"], "", tmp_path, OWN="1")
    spare = become(tmp_path, str(SCRIPT), "-x", "a b", OWN="1")
    assert alone.returncode == 7, alone.stderr
    assert (spare.returncode, json.loads(spare.stdout)) == (7, json.loads(alone.stdout)), spare.stderr


def test_a_relative_script_is_of_the_pods_folder(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import beside\nprint(beside.VALUE, __file__)\n")
    (tmp_path / "beside.py").write_text("VALUE = 5\n")
    assert become(tmp_path, "own.py").stdout == f"5 {tmp_path / 'own.py'}\n"


def test_a_module_of_the_folder_is_not_taken_for_a_library(tmp_path: Path) -> None:
    (tmp_path / "waits").mkdir()
    (tmp_path / "waits" / "numpy.py").write_text("raise SystemExit(9)\n")
    (tmp_path / "own.py").write_text("import numpy\nprint(numpy.arange(3).sum())\n")
    assert become(tmp_path, "own.py").stdout == "3\n"


def test_an_error_is_that_of_the_script(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def broken():\n    raise KeyError('here')\n\n\nbroken()\n")
    ended = become(tmp_path, "own.py")
    assert ended.returncode == 1
    assert f'File "{tmp_path / "own.py"}", line 2, in broken\n    raise KeyError' in ended.stderr


@pytest.mark.parametrize("text", ["", '{"environment"'])
def test_without_a_pod_it_ends(tmp_path: Path, text: str) -> None:
    ended = run(["-c", WAIT], text, tmp_path, KASTOR_SPARE="true", KASTOR_LOCAL_FOLDER=str(tmp_path))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
