"""Tests of ./kastor release short of a build, and of the launcher in an unpacked release.

What a release holds is used by ./kastor release --check, after it was built.
"""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
RUN = ROOT / "tools" / "release" / "run"


def call(*command: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a command without Java, and with as little else as a user may have."""
    environment = {"PATH": os.environ["PATH"], "HOME": os.devnull, "JAVA_HOME": os.devnull, **variables}
    words = [str(word) for word in command]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["1.2"], "VERSION must be semantic, such as 1.2.3 or 1.2.3-rc.1 (alpha, beta or rc), and is '1.2'."),
        (["v1.2.3"], "and is 'v1.2.3'."),
        (["1.2.03"], "and is '1.2.03'."),
        (["1.2.3-SNAPSHOT"], "and is '1.2.3-SNAPSHOT'."),
        (["1.2.3+x"], "and is '1.2.3+x'."),
        (["1.2.3", "1.2.4"], "release takes one version, and is given 1.2.3 and 1.2.4."),
        (["1.2.3", "--arch", "riscv64"], "--arch is x86_64 or aarch64, and is 'riscv64'."),
        (["1.2.3", "--jmods", "/nowhere"], "there is no java.base.jmod in /nowhere."),
        (["1.2.3", "--out"], "--out needs a value."),
        (["1.2.3", "--quick"], "there is no option --quick."),
        (["--check", "/nowhere"], "--check takes a folder that ./kastor release wrote, and nothing else."),
    ],
)
def test_wrong_arguments_are_refused_with_the_reason(arguments: list[str], reason: str) -> None:
    answer = call(RUN, *arguments)
    assert answer.returncode == 1
    assert reason in answer.stderr


def test_help_names_every_option() -> None:
    answer = call(RUN, "--help")
    assert answer.returncode == 0
    for option in ("--out", "--arch", "--jmods", "--registry", "--url", "--dirty", "--check"):
        assert f"  {option}" in answer.stdout


@pytest.fixture
def checkout(tmp_path: pathlib.Path) -> pathlib.Path:
    """A commit with what the command itself is made of."""
    root = tmp_path / "checkout"
    shutil.copytree(RUN.parent, root / "tools" / "release")
    shutil.copytree(ROOT / "e2e" / "lib", root / "e2e" / "lib")
    git = ["git", "-C", root, "-c", "user.name=A", "-c", "user.email=a@localhost"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "first"]):
        assert call(*git, *command).returncode == 0
    return root


def test_changes_that_are_not_committed_are_refused(checkout: pathlib.Path) -> None:
    (checkout / "new").touch()
    answer = call(checkout / "tools" / "release" / "run", "1.2.3")
    assert answer.returncode == 1
    assert "there are changes that are not committed." in answer.stderr
    assert "--dirty" in answer.stderr


def test_tag_of_another_commit_is_refused(checkout: pathlib.Path) -> None:
    git = ["git", "-C", checkout, "-c", "user.name=A", "-c", "user.email=a@localhost"]
    call(*git, "tag", "v1.2.3")
    call(*git, "commit", "--quiet", "--allow-empty", "--message", "second")
    answer = call(checkout / "tools" / "release" / "run", "1.2.3")
    assert answer.returncode == 1
    assert "the tag v1.2.3 is of commit" in answer.stderr


def test_folder_with_files_of_others_is_left_alone(checkout: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis").touch()
    answer = call(checkout / "tools" / "release" / "run", "1.2.3", "--out", tmp_path / "out")
    assert answer.returncode == 1
    assert "no release was written there." in answer.stderr
    assert (tmp_path / "out" / "thesis").exists()


def tree(script: str, folder: pathlib.Path) -> None:
    """Runs a line with the functions of tree.sh, whose variables would come from the command."""
    begin = f"set -euo pipefail; jre_modules= time=1000000000 tree={folder}/tree; . {RUN.parent}/tree.sh; "
    answer = call("bash", "-c", begin + script)
    assert answer.returncode == 0, answer.stderr


def test_same_files_make_the_same_archive_whenever_they_were_written(tmp_path: pathlib.Path) -> None:
    archives = []
    for name, order in (("one", "ab"), ("two", "ba")):
        folder = tmp_path / name / "content"
        folder.mkdir(parents=True)
        for file in order:
            (folder / file).write_text(file)
        (folder / "a").chmod(0o755 if name == "one" else 0o700)
        os.utime(folder / order[0], (5, 5))
        archive = tmp_path / f"{name}.tar.gz"
        tree(f"settle {folder}; pack {archive} {folder.parent} content", tmp_path)
        archives.append(archive.read_bytes())
    assert archives[0] == archives[1]


def test_jars_of_several_parts_are_stored_once_and_native_ones_not_at_all(tmp_path: pathlib.Path) -> None:
    installation = tmp_path / "installation"
    files = {
        installation / "lib" / "operator" / "lib" / "main" / "org.json-1.jar": "json",
        tmp_path / "tree" / "cli" / "target" / "cli-1.jar": "cli",
        tmp_path / "tree" / "cli" / "target" / "lib" / "json-1.jar": "json",
        tmp_path / "tree" / "cli" / "target" / "lib" / "picocli-1.jar": "picocli",
        tmp_path / "tree" / "cli" / "target" / "lib" / "solver-linux-x86-64-1.jar": "native",
        tmp_path / "tree" / "cli" / "target" / "lib" / "solver-darwin-aarch64-1.jar": "native of others",
    }
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    tree(f"collect_jars {installation} cli", tmp_path)
    listed = (installation / "lib" / "cli.classpath").read_text().splitlines()
    assert listed == ["lib/cli-1.jar", "lib/operator/lib/main/org.json-1.jar", "lib/picocli-1.jar"]
    assert all((installation / jar).is_file() for jar in listed)


@pytest.fixture
def release(tmp_path: pathlib.Path) -> pathlib.Path:
    """The launcher in an unpacked release whose Java says what it was called with."""
    root = tmp_path / "kastor 1.2.3"
    (root / "runtime" / "bin").mkdir(parents=True)
    (root / "lib").mkdir()
    shutil.copy(ROOT / "kastor", root)
    (root / "release").write_text(f"VERSION=1.2.3\nCOMMIT=0123abc\nARCH={os.uname().machine}\n")
    (root / "lib" / "cli.classpath").write_text("lib/cli-1.2.3.jar\nlib/operator/lib/main/org.json-1.jar\n")
    java = root / "runtime" / "bin" / "java"
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    return root


def test_release_runs_on_its_own_java_and_jars(release: pathlib.Path) -> None:
    answer = call(release / "kastor", "ls", "--all")
    assert answer.returncode == 0, answer.stderr
    words = answer.stdout.splitlines()
    assert f"{release}/lib/cli-1.2.3.jar:{release}/lib/operator/lib/main/org.json-1.jar" in words
    assert f"-Djava.library.path={release}/lib/native" in words
    assert words[-3:] == ["dev.kastor.cli.Kastor", "ls", "--all"]


def test_release_for_another_processor_says_so(release: pathlib.Path) -> None:
    (release / "release").write_text("VERSION=1.2.3\nCOMMIT=0123abc\nARCH=riscv64\n")
    answer = call(release / "kastor", "ls")
    assert answer.returncode == 2
    assert answer.stderr.startswith("kastor: cannot start: this release is for riscv64, and this machine is ")


@pytest.mark.parametrize("command", ["test", "build", "wheel", "sbom", "images", "e2e", "attack", "release"])
def test_release_refuses_in_one_line_what_needs_sources(release: pathlib.Path, command: str) -> None:
    answer = call(release / "kastor", command, "--help")
    assert answer.returncode == 2
    why = f"that needs a checkout of Kastor's sources, and {release} is a release."
    assert answer.stderr == f"kastor: cannot {command}: {why}\n"


PAGE = """# A page
## Before
```sh
echo not reached > before
```
## Start
```sh
./kastor up      # in a terminal of its own
echo one > one   # a comment
```
Text, and what is no command:
```yaml
echo: two
```
```sh
cat > three <<END
$PWD
END
echo four \\
  five > four
```
## After
```sh
echo not reached > after
```
"""


def type_page(folder: pathlib.Path, page: str) -> subprocess.CompletedProcess[str]:
    """Types the part from Start to After of a page in a folder with a command kastor of its own."""
    (folder / "page.md").write_text(page)
    kastor = folder / "kastor"
    kastor.write_text('#!/usr/bin/env bash\necho "$*" > called\n')
    kastor.chmod(0o755)
    script = f"""
        set -euo pipefail
        . {RUN.parent / "first-page.sh"}
        die() {{ printf '%s\\n' "$@" >&2; exit 1; }}
        took() {{ echo "took: ${{2%%$'\\n'*}}"; }}
        await_up() {{ wait "$up"; }}
        cd {folder}
        type_page page.md Start After
    """
    return call("bash", "-c", script)


def test_commands_of_a_page_are_typed_in_their_order(tmp_path: pathlib.Path) -> None:
    answer = type_page(tmp_path, PAGE)
    assert answer.returncode == 0, answer.stderr
    assert [line.split()[1] for line in answer.stdout.splitlines()] == ["./kastor", "echo", "cat", "echo"]
    assert (tmp_path / "called").read_text() == "up\n"
    assert (tmp_path / "one").read_text() == "one\n"
    assert (tmp_path / "three").read_text() == f"{tmp_path}\n"
    assert (tmp_path / "four").read_text() == "four five\n"
    assert not (tmp_path / "before").exists() and not (tmp_path / "after").exists()


@pytest.mark.parametrize(
    ("command", "reason"),
    [("ls nowhere", "this failed: ls nowhere"), ("echo 'open", "this command of the page has no end")],
)
def test_command_of_a_page_that_fails_is_named(tmp_path: pathlib.Path, command: str, reason: str) -> None:
    answer = type_page(tmp_path, PAGE.replace("echo one > one", command))
    assert answer.returncode == 1
    assert reason in answer.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--release", "/nowhere"], "--release needs a folder that ./kastor release wrote, and is given '/nowhere'."),
        (["--before"], "--before needs a folder that ./kastor release wrote, and is given ''."),
    ],
)
def test_cluster_takes_releases_alone(arguments: list[str], reason: str) -> None:
    answer = call(ROOT / "e2e" / "run", *arguments)
    assert answer.returncode == 1
    assert reason in answer.stderr


def test_changed_file_of_a_release_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "SHA256SUMS").write_text("0" * 64 + "  chart\n")
    (tmp_path / "chart").write_text("another")
    answer = call(ROOT / "e2e" / "run", "--release", tmp_path)
    assert answer.returncode == 1
    assert f"a file in {tmp_path} is not the one that was built." in answer.stderr
    assert "--before needs --release" in call(ROOT / "e2e" / "run", "--before", tmp_path).stderr
