"""Time of a step with this client, beside the same loop under DistributedDataParallel, in turns in the same processes.

Usage: bench/pytorch overhead [ROUNDS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from conftest import Cluster
from pods import ForkServers

SCRIPT = str(Path(__file__).with_name("turns.py"))
MODELS = ("mlp", "cnn", "transformer")


def measure(model: str, rounds: int) -> list[dict[str, float]]:
    """Seconds of a step of each kind, a row a round."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder), ForkServers())
        cluster.variables = {"MEETING": str(Path(folder) / "meeting")}
        cluster.spec["checkpoint"]["intervalSeconds"] = 3600
        try:
            cluster.start("r0", "r1", script=SCRIPT, fork=False, model=model, rounds=rounds)
            cluster.want(["r0", "r1"], 16)
            cluster.completed(3600)
            found = [row for pod in ("r0", "r1") for row in cluster.lines(pod)]
            assert len(found) == rounds, cluster.logs()
            return found
        finally:
            cluster.close()


def main(rounds: int) -> None:
    """Measures and prints a table: time as a clock shows it, and CPU time of rank 0, which other work disturbs less."""
    print(f"{'model':<13}{'parameters':>11}{'time':>6}{'DDP ms':>9}{'kastor ms':>11}{'change':>9}   quartiles")
    for model in MODELS:
        rows = measure(model, rounds)
        for name, suffix in (("wall", ""), ("CPU", " cpu")):
            changes = [100 * (row["kastor" + suffix] / row["ddp" + suffix] - 1) for row in rows]
            low, middle, high = statistics.quantiles(changes, n=4)
            plain, elastic = (
                1000 * statistics.median(row[kind + suffix] for row in rows) for kind in ("ddp", "kastor")
            )
            print(
                f"{model:<13}{rows[0]['parameters']:>11}{name:>6}{plain:>9.1f}{elastic:>11.1f}{middle:>+8.1f}%"
                f"   {low:+.1f}% to {high:+.1f}%",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
