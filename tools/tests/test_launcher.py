"""Tests of the launcher where something is missing, and where something that it runs fails."""

import os
import pathlib
import shutil
import subprocess

import pytest

LAUNCHER = pathlib.Path(__file__).parents[2] / "kastor"

# Everything of the launcher but what it does with its arguments.
FUNCTIONS = LAUNCHER.read_text().split("\nif released; then\n")[0].replace("${BASH_SOURCE[0]}", str(LAUNCHER))

LOCKED = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)"


def need_chromium(folder: pathlib.Path, apt_get: str, wait: int = 300) -> subprocess.CompletedProcess[str]:
    """Calls need_chromium of root on a machine whose apt-get is a script; what it is called with is in a file."""
    programs = folder / "bin"
    programs.mkdir()
    for name in ("bash", "dirname", "readlink", "grep", "uname"):
        (programs / name).symlink_to(str(shutil.which(name)))
    scripts = {"id": "echo 0", "sleep": ":", "apt-get": f'echo "$*" >>{folder}/calls\n{apt_get}'}
    for name, script in scripts.items():
        (programs / name).write_text(f"#!{shutil.which('bash')}\n{script}\n")
        (programs / name).chmod(0o755)
    script = f"{FUNCTIONS}\napt_wait={wait}\nneed_chromium\necho found $CHROMIUM\n"
    environment = {key: value for key, value in os.environ.items() if key != "CHROMIUM"}
    return subprocess.run(
        ["bash", "-c", script], env={**environment, "PATH": str(programs)}, capture_output=True, text=True, check=False
    )


def installs(folder: pathlib.Path) -> str:
    """A line of a script that makes a browser when it is told to install one."""
    browser = folder / "bin/chromium"
    return f'[[ $* != *install* ]] || {{ echo "#!/bin/sh" >{browser} && {shutil.which("chmod")} +x {browser}; }}'


def test_the_lock_of_the_package_manager_is_waited_for(tmp_path: pathlib.Path) -> None:
    # Both the lists and the packages are locked twice.
    locked = f"n=$(grep -c . {tmp_path}/calls)\nif ((n % 3)); then echo '{LOCKED}' >&2; exit 100; fi\n"
    answer = need_chromium(tmp_path, locked + installs(tmp_path))
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[-1] == f"found {tmp_path}/bin/chromium"
    waiting = f"kastor: waiting for the package manager, 300 s at most. {LOCKED.removeprefix('E: ')}"
    assert answer.stderr.splitlines() == ["kastor: installing chromium for the browser tests", waiting, waiting]
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call.split()[-1] for call in calls] == ["update"] * 3 + ["chromium"] * 3


def test_a_lock_that_stays_is_a_failure_that_names_the_limit(tmp_path: pathlib.Path) -> None:
    answer = need_chromium(tmp_path, f"echo '{LOCKED}' >&2; exit 100", wait=0)
    assert answer.returncode == 1
    assert f"kastor: waited 0 s for the package manager. {LOCKED.removeprefix('E: ')}" in answer.stderr.splitlines()
    assert "kastor: the installation of chromium failed; what apt-get said is above." in answer.stderr.splitlines()


def test_an_installation_that_fails_is_not_tried_again(tmp_path: pathlib.Path) -> None:
    answer = need_chromium(tmp_path, "echo 'E: Unable to locate package' >&2; exit 100")
    assert answer.returncode == 1
    assert "E: Unable to locate package" in answer.stderr.splitlines()
    assert (tmp_path / "calls").read_text().count("\n") == 1


def test_a_machine_without_a_package_manager_cannot(tmp_path: pathlib.Path) -> None:
    script = f"{FUNCTIONS}\nid() {{ echo 1000; }}\nfind_chromium() {{ return 1; }}\nneed_chromium\n"
    answer = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert answer.stderr.splitlines() == [
        "kastor: cannot run the tests: those in a browser need chromium.",
        "kastor: To go on, install it, for example with: apt-get install chromium; or set CHROMIUM to its path.",
    ]


@pytest.mark.parametrize(("missing", "what"), [("find_jdk", "start"), ("mvn", "build")])
def test_what_is_missing_is_told_from_what_fails(tmp_path: pathlib.Path, missing: str, what: str) -> None:
    need = {"find_jdk": "find_jdk() { return 1; }\nneed_jdk", "mvn": "command() { return 1; }\nneed_maven"}
    answer = subprocess.run(
        ["bash", "-c", f"{FUNCTIONS}\n{need[missing]}\n"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert answer.stderr.startswith(f"kastor: cannot {what}: ")
    assert "nstall" in answer.stderr
