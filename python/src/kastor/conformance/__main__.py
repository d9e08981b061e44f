"""Command of the conformance kit."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from kastor.conformance.rules import RULES, Rulebook
from kastor.conformance.scenes import play_all

_DESCRIPTION = """
Takes replicas of a command, which train under the agent protocol, through the life of a job, and prints for each rule
of docs/agent-protocol.md whether they kept it. Exit status: 0 if they kept all rules, else 1.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; its exit status."""
    parser = argparse.ArgumentParser("python -m kastor.conformance", description=_DESCRIPTION)
    parser.add_argument("--spec", type=Path, metavar="FILE", help="JSON of fields for KASTOR_JOB_SPEC")
    parser.add_argument("--patience", type=float, default=120, metavar="S", help="longest wait of a scene (120)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="new folder for logs, outcomes and checkpoints")
    parser.add_argument("command", nargs="+", help="command that starts one replica, after --")
    options = parser.parse_args(arguments)
    if shutil.which("openssl") is None:
        parser.error("there is no openssl on PATH, which makes the operator's certificate; install it")
    if shutil.which(options.command[0]) is None:
        parser.error(f"there is no command {options.command[0]}")
    if options.keep is not None and options.keep.exists():
        parser.error(f"{options.keep} exists; name a folder that does not")
    spec = {}
    if options.spec is not None:
        try:
            spec = json.loads(options.spec.read_text())
        except (OSError, ValueError) as e:
            parser.error(f"--spec {options.spec}: {e}")
    rules = play_all(
        options.command, spec, options.patience, options.keep, lambda name: print(f"story: {name}", flush=True)
    )
    print("\n".join(lines(rules)), flush=True)
    return 0 if all(verdict.passed for verdict in rules.verdicts.values()) else 1


def lines(rules: Rulebook) -> list[str]:
    """Lines that tell the verdicts, one for each rule, and how each broken one was broken."""
    width = max(map(len, RULES))
    found = []
    for name, verdict in rules.verdicts.items():
        word = "passed" if verdict.passed else "failed" if verdict.faults else "untried"
        why = f" ({verdict.skipped or 'no request came to which it applies'})" if word == "untried" else ""
        found.append(f"{word:<8} {name:<{width}} {RULES[name]}{why}")
        found += ["         " + line for fault in verdict.faults[:3] for line in fault.splitlines()]
    return found


if __name__ == "__main__":
    sys.exit(main())
