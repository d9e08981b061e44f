"""Pauses of live changes with 100 MB of state, as rank 0 reports them to the operator.

Usage: bench/pytorch pause [CYCLES]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from conftest import Cluster
from pods import ForkServers

SCRIPT = str(Path(__file__).with_name("wide.py"))
BATCHES = (16, 8, 12, 16)


def main(cycles: int) -> None:
    """Measures and prints a table."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder), ForkServers())
        cluster.spec["checkpoint"]["intervalSeconds"] = 3600
        try:
            cluster.start("r0", script=SCRIPT)
            cluster.want(["r0"], 16)
            for number in range(1, cycles + 1):
                joiner = f"r{number}"
                cluster.start(joiner, script=SCRIPT)
                cluster.ready(joiner)
                cluster.want(["r0", joiner], 8)
                for batch in BATCHES:
                    steps(cluster)
                    cluster.want(["r0", joiner], batch)
                steps(cluster)
                cluster.want(["r0"], 16)
                cluster.ends(joiner)
                steps(cluster)
            report(cluster)
        finally:
            cluster.close()


def steps(cluster: Cluster, more: int = 5) -> None:
    """Waits for some steps, so that each change begins in a training that goes on."""
    step = cluster.operator.reports[-1]["progress"]["step"] if cluster.operator.reports else 0
    cluster.wait("steps", lambda: cluster.operator.reports and _step(cluster) >= step + more)


def _step(cluster: Cluster) -> int:
    return int(cluster.operator.reports[-1]["progress"]["step"])


def report(cluster: Cluster) -> None:
    """Prints medians of the changes that were reported."""
    changes: dict[str, list[float]] = {"grow 1 to 2": [], "shrink 2 to 1": [], "batch alone": []}
    for switch in cluster.operator.switches():
        before, after = switch["replicasBefore"], switch["replicasAfter"]
        if before:
            kind = "batch alone" if before == after else "grow 1 to 2" if after > before else "shrink 2 to 1"
            changes[kind].append(1000 * switch["pauseSeconds"])
    print(f"{'change':<15}{'count':>6}{'median ms':>11}{'p90 ms':>9}{'longest':>9}")
    for kind, pauses in changes.items():
        high = statistics.quantiles(pauses, n=10)[-1] if len(pauses) > 1 else pauses[0]
        print(f"{kind:<15}{len(pauses):>6}{statistics.median(pauses):>11.1f}{high:>9.1f}{max(pauses):>9.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
