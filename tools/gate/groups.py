"""Control groups, by which the parts of a gate share busy processors and are charged for them.

Where the kernel groups processes by session (`kernel.sched_autogroup_enabled`), `nice` counts inside a session only, so
it says nothing between parts that are sessions of their own. A group of the CPU controller does, version 1 or 2.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import signal
import time

ROOT = pathlib.Path("/sys/fs/cgroup")
# Shares of one group of usual weight: cpu.shares of version 1, cpu.weight of version 2.
USUAL_SHARES, USUAL_WEIGHT = 1024, 100


@dataclasses.dataclass(frozen=True)
class Group:
    """Control group of one part: a folder for each controller of version 1, or one folder of version 2."""

    folders: tuple[pathlib.Path, ...]

    def enter(self) -> None:
        """Moves the calling process into the group; its children will be there too."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def cpu_seconds(self) -> float:
        """Returns the processor time of all that ran in the group, in seconds."""
        for folder in self.folders:
            usage = folder / "cpuacct.usage"
            if usage.exists():
                return int(usage.read_text()) / 1e9
            stat = folder / "cpu.stat"
            if stat.exists() and "usage_usec" in stat.read_text():
                return int(dict(line.split() for line in stat.read_text().splitlines())["usage_usec"]) / 1e6
        return 0.0

    def end(self) -> None:
        """Kills what still runs in the group and removes it."""
        for _ in range(50):
            busy = False
            for folder in self.folders:
                with contextlib.suppress(FileNotFoundError):
                    for pid in (folder / "cgroup.procs").read_text().split():
                        busy = True
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(int(pid), signal.SIGKILL)
            if not busy:
                break
            time.sleep(0.1)
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


def make(name: str, weight: int) -> Group | None:
    """Makes a group with `weight` times the usual share, or returns None where this process may not."""
    folders = []
    try:
        for parent in _hierarchies():
            folder = parent / f"kastor-gate-{os.getpid()}-{name}"
            folder.mkdir()
            folders.append(folder)
            if (folder / "cpu.shares").exists():
                (folder / "cpu.shares").write_text(str(weight * USUAL_SHARES))
            if (folder / "cpu.weight").exists():
                (folder / "cpu.weight").write_text(str(weight * USUAL_WEIGHT))
    except OSError:
        Group(tuple(folders)).end()
        return None
    return Group(tuple(folders)) if folders else None


def _hierarchies() -> list[pathlib.Path]:
    if (ROOT / "cgroup.controllers").exists():
        if "cpu" not in (ROOT / "cgroup.subtree_control").read_text().split():
            (ROOT / "cgroup.subtree_control").write_text("+cpu")
        return [ROOT]
    return [ROOT / controller for controller in ("cpu", "cpuacct") if (ROOT / controller).is_dir()]


def trial(seconds: float = 2.0, weight: int = 4) -> str:
    """Runs two busy processes on one processor, in groups of weight `weight` and 1, and returns what was found."""
    heavy, light = make("trial-heavy", weight), make("trial-light", 1)
    try:
        if heavy is None or light is None:
            return (
                "control groups cannot be made here: parts share processors as the kernel likes, with nice between them"
            )
        pids = [_busy(heavy), _busy(light)]
        time.sleep(seconds)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        ratio = heavy.cpu_seconds() / max(light.cpu_seconds(), 1e-3)
        verdict = "hold" if ratio > weight / 2 else "DO NOT HOLD, so times can be those of another part"
        return f"control groups {verdict}: weights {weight} to 1 gave {ratio:.1f} to 1"
    finally:
        for group in (heavy, light):
            if group is not None:
                group.end()


def _busy(group: Group) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            group.enter()
            while True:
                pass
        finally:
            os._exit(1)
    return pid
