"""Testbed: twelve real jobs on paced slots, in several orders of arrival, under static allocations and under policies.

Each run starts a cluster of its own, and a run whose figures are in the folder already is not made again.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

from jobs import folder_of
from replays import bound, means
from run import UNDER, run

COLUMNS = (
    ("mean s", "mean", "{:.0f}"),
    ("p90 s", "p90", "{:.0f}"),
    ("makespan s", "makespan", "{:.0f}"),
    ("wait s", "wait", "{:.0f}"),
    ("held slot s", "held", "{:.0f}"),
    ("trained slot s", "trained", "{:.0f}"),
    ("growths", "changes", "{:.1f}"),
    ("undone", "undone", "{:.1f}"),
    ("never trained", "neverTrained", "{:.1f}"),
    ("restarts", "restarts", "{:.1f}"),
    ("lost", "lost", "{:.0f}"),
    ("ETA error", "endError", "{:.0%}"),
    ("ETA error, none to come", "lastEndError", "{:.0%}"),
    ("whatif error, ends", "foreseenError", "{:.0%}"),
    ("whatif error, starts", "foreseenStartError", "{:.0%}"),
    ("late", "late", "{:.2f}"),
)


def main() -> None:
    """Runs what is asked for and prints a table after each run."""
    parser = argparse.ArgumentParser(
        prog="bench/testbed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--orders", type=int, nargs="+", default=[1, 2, 3, 4, 5], metavar="N", help="(default: 1 to 5)")
    parser.add_argument("--under", nargs="+", default=list(UNDER), choices=list(UNDER), metavar="NAME",
                        help=f"of {', '.join(UNDER)} (default: all)")  # fmt: skip
    parser.add_argument("--slots", type=int, default=8, help="(default: 8)")
    parser.add_argument("--gap", type=float, default=16, help="mean seconds between two arrivals (default: 16)")
    parser.add_argument("--work", type=float, default=2, help="factor on the work of each job, which takes 40 to 230 s"
                        " alone with 1 (default: 2)")  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("testbed"), help="folder of all runs (default: testbed)")
    parser.add_argument("--no-replays", action="store_true", help="do not replay what the runs recorded")
    parser.add_argument("--costliest", action="store_true", help="print the ten changes of each run after which slots"
                        " did not train for longest")  # fmt: skip
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    found: dict[str, list[dict[str, Any]]] = {}
    for order in options.orders:
        for under in options.under:
            made = run(options.out, order, under, options.slots, options.gap, options.work)
            found.setdefault(under, []).append(made)
    table(found)
    if options.costliest:
        costliest(found)
    if not options.no_replays:
        replayed(options.out, found)
    rows = {under: [{k: v for k, v in each.items() if k != "trace"} for each in runs] for under, runs in found.items()}
    (options.out / "testbed.json").write_text(json.dumps(rows, indent=1))


def table(found: dict[str, list[dict[str, Any]]]) -> None:
    """Prints a row for each name: means over its orders, the worst lateness, and its mean against the best static."""
    static = [_mean(runs, "mean") for under, runs in found.items() if under.startswith(("static", "tuned"))]
    print("| under | orders | " + " | ".join(title for title, _, _ in COLUMNS) + " | against static |")
    print("|---|" + "---:|" * (len(COLUMNS) + 2))
    for under, runs in found.items():
        cells = [
            form.format(max(each[key] for each in runs) if key == "late" else _mean(runs, key))
            # A run of an earlier version lacks what it did not measure.
            if all(each.get(key) is not None for each in runs)
            else ""
            for _, key, form in COLUMNS
        ]
        ratio = f"{_mean(runs, 'mean') / min(static):.2f}" if static else ""
        print(f"| {under} | {len(runs)} | {' | '.join(cells)} | {ratio} |")


def costliest(found: dict[str, list[dict[str, Any]]]) -> None:
    """Prints for each run the changes whose slots did not train for longest."""
    print("\n| order | under | at s | job | replicas | trained after s | slot s without training |")
    print("|---|---|---:|---|---|---:|---:|")
    for under, runs in found.items():
        for run_ in runs:
            # A run of an earlier version has none.
            for each in run_.get("costliest", []):
                after = "never" if each["trained"] is None else f"{each['trained'] - each['at']:.0f}"
                size = f"{each['from']} to {each['to']}"
                cells = [f"{each['at']:.0f}", each["job"], size, after, f"{each['idle']:.0f}"]
                print(f"| {run_['order']} | {under} | {' | '.join(cells)} |")


def replayed(out: Path, found: dict[str, list[dict[str, Any]]]) -> None:
    """Prints a row for each run: its mean beside replays of its recording, by its policy and by those of others."""
    policies = sorted({UNDER[under][0] for under in found if not under.startswith(("static", "tuned"))} | {"fifo"})
    print()
    print(
        "| order | run | mean s | its replay | " + " | ".join(f"under `{p}`" for p in policies) + " | bound | known |"
    )
    print("|---|---|" + "---:|" * (len(policies) + 4))
    for runs in zip(*found.values(), strict=True):
        for under, run_ in zip(found, runs, strict=True):
            if under == "kastor-again":
                # Its recording has the first round as well.
                continue
            recording = folder_of(out, run_["order"], under) / "recording.json"
            took = means(recording, sorted({*policies, UNDER[under][0]}))
            own, limits = took[UNDER[under][0]], bound(recording)
            cells = [f"{run_['mean']:.0f}", f"{own:.0f} ({own / run_['mean'] - 1:+.1%})"]
            cells += [f"{took[policy]:.0f}" for policy in policies] + [f"{each:.0f}" for each in limits]
            print(f"| {run_['order']} | {under} | {' | '.join(cells)} |", flush=True)


def _mean(runs: list[dict[str, Any]], key: str) -> float:
    return float(sum(each[key] for each in runs)) / len(runs)


if __name__ == "__main__":
    main()
