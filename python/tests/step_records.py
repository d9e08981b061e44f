"""Records of steps: what the scripts of the tests themselves wrote down, one line a step and replica."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kastor.protocol import BatchPlan
from kastor.sampler import ElasticSampler, Order, order_of

EXAMPLES = 2048
SHUFFLED = order_of(EXAMPLES)


def lines_of(record: Path) -> list[dict[str, Any]]:
    """Lines of one replica; one that it was killed in is left out."""
    text = record.read_text() if record.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def checked_steps(lines: Iterable[dict[str, Any]], order: Order = SHUFFLED) -> dict[int, list[dict[str, Any]]]:
    """Lines of each step, once they show that each example counts once and that all members have the same bits.

    A step that was redone counts as the youngest generation did it. Where a member has no line, it was killed before
    it could write one; what it trained on is then known from the others' shares alone.
    """
    steps: dict[int, list[dict[str, Any]]] = {}
    for line in lines:
        known = steps.setdefault(line["step"], [])
        if known and known[0]["generation"] < line["generation"]:
            known.clear()
        if not known or known[0]["generation"] == line["generation"]:
            known.append(line)
    assert sorted(steps) == list(range(len(steps)))
    sampler, cursor = ElasticSampler(order), 0
    for step in sorted(steps):
        members = steps[step]
        assert len({line["state"] for line in members}) == 1, f"states differ after step {step}"
        share, replicas = len(members[0]["examples"]), members[0]["replicas"]
        trained = Counter(i for line in members for i in line["examples"])
        expected = Counter(sampler.take(cursor, BatchPlan(share * replicas), 1, 0, 0).examples.tolist())
        assert not trained - expected, f"step {step} repeated examples"
        if len(members) == replicas:
            assert trained == expected, f"step {step} lost examples"
        cursor += share * replicas
    return steps
