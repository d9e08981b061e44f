"""What the documentation of the package says, held against the package and the examples."""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TUTORIAL = (DOCS / "pytorch.md").read_text()
MIGRATION = (DOCS / "migrating-from-adaptdl.md").read_text()


def texts() -> list[str]:
    """All strings of the package; what is filled in is a blank line, which no message has."""
    found = []
    for file in (ROOT / "python" / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
            elif isinstance(node, ast.JoinedStr):
                found.append("".join(str(n.value) if isinstance(n, ast.Constant) else "\n\n" for n in node.values))
    return found


def changes(name: str) -> list[str]:
    plain, elastic = (
        (ROOT / "examples" / "pytorch" / file).read_text().splitlines() for file in (f"plain/{name}", name)
    )
    lines = [line for line in difflib.ndiff(plain, elastic) if line[0] in "+-"]
    return sorted(line[0] + line[2:] for line in lines if line[2:].strip())


def shown(page: str) -> list[str]:
    (block,) = re.findall(r"```diff\n(.*?)```", page, re.DOTALL)
    return sorted(line for line in block.splitlines() if line[:1] in ("+", "-"))


def test_shows_all_that_differs_in_the_example() -> None:
    assert shown(TUTORIAL) == changes("cnn.py")
    assert shown(MIGRATION) == changes("adaptdl_mnist.py")
    readme = (ROOT / "README.md").read_text()
    assert shown(readme) == changes("cnn.py")


def test_quotes_messages_that_there_are() -> None:
    (table,) = re.findall(r"\| message \| what to do \|\n\|---\|---\|\n((?:\|.*\n)+)", TUTORIAL)
    rows = [row.split("|")[1] for row in table.splitlines() if "(PyTorch's)" not in row]
    all_texts = texts()
    for row in rows:
        quoted = re.findall(r"`([^`]+)`", row)
        assert any(all(part in text for part in quoted) for text in all_texts), row
    assert len(rows) > 10


# Tests by what the tutorial says that holds.
HELD = {
    "growing, shrinking and other batches": "test_elastic.py::test_grows_shrinks_and_changes_the_batch_while_it_trains",
    "a kill at any point of a step": "test_elastic.py::test_survives_a_kill_at_any_point_of_a_step",
    "two deaths at once": "test_elastic.py::test_survives_two_deaths_at_once",
    "the death of all, and a suspension": (
        "test_elastic.py::test_goes_on_from_a_checkpoint_after_a_suspension_and_after_the_death_of_all"
    ),
    "several optimizers, killed between two of them": (
        "test_alternating.py::test_goes_on_after_a_kill_between_two_optimizers"
    ),
    "a weighted sampler, and a kill": "test_elastic.py::test_keeps_the_meaning_of_a_weighted_sampler_after_a_kill",
    "a stream of shards, and a kill": "test_elastic.py::test_trains_on_each_example_of_a_stream_once_after_a_kill",
    "epochs that are left by `break`, and a kill": (
        "test_elastic.py::test_leaves_epochs_with_all_replicas_and_after_a_kill"
    ),
    "random kills of a whole job": "test_kills.py::test_no_example_is_lost_or_repeated_whoever_is_killed",
    "Lightning, with validation and early stopping": "test_frameworks.py::lightning-early stopping",
    "Transformers, with evaluations, saving and the best model": (
        "test_frameworks.py::transformers-the best of five epochs"
    ),
}


def test_what_holds_is_tested() -> None:
    section = TUTORIAL.partition("## What holds")[2].partition("\n## ")[0]
    rows = [row.split("|")[2].strip() for row in section.splitlines() if row.startswith("| ") and "#" not in row]
    _, bits, lost, frameworks, drift = (row.split(" · ") for row in rows)
    tests = ROOT / "python" / "tests"
    script = (tests / "scripts" / "situations.py").read_text()
    assert bits == [*re.findall(r'@situation\("(.*)"\)', script), *re.findall(r'^    "(.*)": functools', script, re.M)]
    assert [*lost, *frameworks] == list(HELD)
    for test in HELD.values():
        file, _, name = test.partition("::")
        assert re.search(f'(def {re.escape(name)}\\(|id="{re.escape(name)}")', (tests / file).read_text()), test
    ways = re.findall(r'^        \("([^"]+)", ', (tests / "test_drift.py").read_text(), re.MULTILINE)
    assert drift == list(dict.fromkeys(ways))


def test_names_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.delenv("KASTOR_OPERATOR_URL", raising=False)
    torch_job: Any = importlib.import_module("kastor.torch").init()
    table = TUTORIAL.partition("## What the names do")[2].partition("## Rules")[0]
    for signature in re.findall(r"`job\.(\w+)(?:\(([^)`]*)\))?", table):
        assert hasattr(torch_job, signature[0]), signature
    for name in re.findall(r"`\.(\w+)", table):
        assert hasattr(torch_job, name), name
    prepare = re.search(r"`job\.prepare\(([^)]*)\)", table)
    assert prepare is not None
    names = [re.split(r"[=*]+", part.strip())[-1 if "**" in part else 0] for part in prepare[1].split(",")]
    assert names == list(inspect.signature(torch_job.prepare).parameters)


@pytest.mark.parametrize("page", ["pytorch.md", "migrating-from-adaptdl.md"])
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", (DOCS / page).read_text())
    missing = [link for link in links if "://" not in link and not (DOCS / link).exists()]
    assert links
    assert missing == []
