"""Command that checks a script."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from kastor.check.stages import Check, Row, Sizes, Verdict

_DESCRIPTION = """
Runs the first steps of a script as an elastic job: by one replica, by two, and by replicas that join, take other
batches, are killed and go on from a checkpoint, all on this machine and without a cluster. Says what holds and what
does not, with the remedy. The script runs as it is, in six processes, at most two at a time, which write what it
writes. Exit status: 0 if all holds, 1 if something failed, 2 for a wrong call.
"""
_LEAST_BATCH = 4
_TIMES_AS_LARGE = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; its exit status."""
    parser = argparse.ArgumentParser("python -m kastor.check", description=_DESCRIPTION)
    parser.add_argument("-b", "--batch", type=int, default=32, metavar="N", help="batch of the script's loader (32)")
    parser.add_argument(
        "--per-replica",
        type=int,
        metavar="MAX",
        help="most examples that one replica takes at once (4 times the batch)",
    )
    parser.add_argument(
        "--no-accumulation", action="store_true", help="never add up passes: for a script with several optimizers"
    )
    parser.add_argument("--steps", type=int, default=30, metavar="N", help="steps by one and by two replicas (30)")
    parser.add_argument("--patience", type=float, default=120, metavar="S", help="longest wait for anything (120)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="new folder for logs, outcomes and checkpoints")
    parser.add_argument("command", nargs="+", help="command that starts the script, after --")
    options = parser.parse_args(arguments)
    most = _TIMES_AS_LARGE * options.batch if options.per_replica is None else options.per_replica
    if options.batch < _LEAST_BATCH:
        parser.error(f"--batch {options.batch}: two replicas with two passes each need at least {_LEAST_BATCH}")
    if most < options.batch:
        parser.error(f"--per-replica {most}: one replica alone takes the whole batch of {options.batch}")
    if options.steps < 1 or not options.patience > 0:
        parser.error("--steps and --patience must be above 0")
    if shutil.which("openssl") is None:
        parser.error("there is no openssl on PATH, which makes the certificate of the check's operator; install it")
    if shutil.which(options.command[0]) is None:
        parser.error(f"there is no command {options.command[0]}")
    if options.keep is not None and options.keep.exists():
        parser.error(f"{options.keep} exists; name a folder that does not")
    before = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    began = time.monotonic()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="kastor-check-"))
    try:
        rows = Check(
            options.command,
            Sizes(options.batch, most, options.steps, not options.no_accumulation),
            options.patience,
            folder,
            _print,
        ).rows()
    except KeyboardInterrupt:
        return 130
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
        for number, handler in before.items():
            signal.signal(number, handler)
    counts = {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    parts = [f"{count} {verdict.value}" for verdict, count in counts.items() if count]
    print(f"{', '.join(parts)} in {time.monotonic() - began:.0f} s", flush=True)
    return 1 if counts[Verdict.BROKEN] else 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ends the check at the first signal; further signals do not disturb the end of its replicas."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def _print(row: Row) -> None:
    first, *more = row.text.splitlines() or [""]
    print(f"{row.verdict.value:<9} {row.name:<26} {first}", flush=True)
    for line in more:
        print(f"{'':<10}{line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
