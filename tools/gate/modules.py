"""Modules of the build and what depends on them, read from their pom.xml."""

from __future__ import annotations

import os
import pathlib
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence

MAVEN = "{http://maven.apache.org/POM/4.0.0}"


def dependents(root: pathlib.Path) -> dict[str, set[str]]:
    """Returns for each module those that depend on it, directly or not."""
    names = [element.text or "" for element in ElementTree.parse(root / "pom.xml").iter(f"{MAVEN}module")]
    direct = {name: _dependencies(root / name / "pom.xml") & set(names) for name in names}
    found: dict[str, set[str]] = {name: set() for name in names}
    for name in names:
        todo = list(direct[name])
        while todo:
            below = todo.pop()
            if name not in found[below]:
                found[below].add(name)
                todo += direct[below]
    return found


def affected(root: pathlib.Path, files: Iterable[str]) -> set[str]:
    """Returns the modules that changed files can break: those that hold them and what depends on these.

    A file outside all modules that is part of the build, such as the root's pom.xml, affects all.
    """
    below = dependents(root)
    found: set[str] = set()
    for file in files:
        module = file.partition("/")[0]
        if module in below:
            found |= {module} | below[module]
        elif file in ("pom.xml", "kastor") or file.startswith(".mvn/"):
            found |= set(below)
    return found


def changed_files(root: pathlib.Path, base: str) -> list[str]:
    """Returns files that differ from a commit, those that are new and not ignored included.

    Throws:
        subprocess.CalledProcessError: if git does not know the commit.
    """
    differ = _git(root, "diff", "--name-only", base, "--")
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    return sorted({*differ.splitlines(), *new.splitlines()})


def base(root: pathlib.Path, known: pathlib.Path) -> str | None:
    """Returns the commit since which changes count, or None where none is known.

    It is KASTOR_GATE_BASE, or the newest commit whose whole gate passed on this machine.

    Args:
        known: file with a line for each commit whose gate passed here, the newest last; after the commit come the
            nightly parts that its gate left to the next one.
    """
    chosen = os.environ.get("KASTOR_GATE_BASE")
    if chosen:
        return chosen
    return next(iter(_newest_passed(root, known)), None)


def left(root: pathlib.Path, known: pathlib.Path) -> list[str]:
    """Returns the nightly parts that the newest gate that passed on this machine left to the next one."""
    return _newest_passed(root, known)[1:]


def _newest_passed(root: pathlib.Path, known: pathlib.Path) -> list[str]:
    """Returns the words of the last line of a commit in the history of the newest one; none if there is none."""
    history = set(_git(root, "rev-list", "HEAD").split())
    lines = known.read_text(encoding="utf-8").splitlines() if known.exists() else []
    return next((line.split() for line in reversed(lines) if history.intersection(line.split()[:1])), [])


def hours_ago(root: pathlib.Path, hours: int = 4) -> str:
    """Returns the newest commit that is some hours older than the newest one, or the first there is."""
    newest = int(_git(root, "log", "-1", "--format=%ct").strip())
    older = _git(root, "rev-list", "-1", f"--before={newest - hours * 3600}", "HEAD").strip()
    return older or _git(root, "rev-list", "--max-parents=0", "HEAD").split()[0]


def note_passed(root: pathlib.Path, known: pathlib.Path, left: Sequence[str] = ()) -> None:
    """Notes that the gate passed on the newest commit but for the parts it left, if that is what the tree holds."""
    if not _git(root, "status", "--porcelain").strip():
        known.parent.mkdir(parents=True, exist_ok=True)
        with known.open("a", encoding="utf-8") as lines:
            lines.write(" ".join([_git(root, "rev-parse", "HEAD").strip(), *left]) + "\n")


def _git(root: pathlib.Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout


def _dependencies(pom: pathlib.Path) -> set[str]:
    found = set()
    for dependency in ElementTree.parse(pom).iter(f"{MAVEN}dependency"):
        if dependency.findtext(f"{MAVEN}groupId") == "dev.kastor":
            found.add(dependency.findtext(f"{MAVEN}artifactId") or "")
    return found
