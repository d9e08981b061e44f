"""Gangs of processes of this machine, which find each other although they share its address and ports."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from local_kastor import LocalKastor

pytest.importorskip("torch")
pytestmark = [pytest.mark.integration, pytest.mark.timeout(3600)]

SCRIPT = Path(__file__).parent / "scripts" / "gang_sum.py"


def test_two_gangs_at_once_find_their_own_members(kastor: LocalKastor) -> None:
    launchers: dict[str, list[str]] = {"plain": [], "launched": ["-m", "torch.distributed.run"]}
    gangs = {
        name: kastor.start(name, "run", "--name", name, "--replicas", "2", "--", sys.executable, *launcher, str(SCRIPT))
        for name, launcher in launchers.items()
    }
    for name, gang in gangs.items():
        assert gang.ends() == 0, gang.said()
        assert f"{name}: 2 members, sum 3" in gang.said()
