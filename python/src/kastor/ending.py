"""Termination message of a replica."""

from __future__ import annotations

import json
import os
from pathlib import Path

from kastor.protocol import Outcome, OutcomeKind

EXIT_FAILED = 1
EXIT_PERMANENT = 64
EXIT_TERMINATED = 143


def exit_status(outcome: Outcome) -> int:
    """Exit status by which the operator knows whether another try may work."""
    if outcome.kind is OutcomeKind.FAILED:
        return EXIT_FAILED
    return EXIT_PERMANENT if outcome.kind is OutcomeKind.FAILED_PERMANENTLY else 0


def write_outcome(file: Path, outcome: Outcome, protocol: int = 1) -> None:
    """Writes the outcome as the container's termination message; a reader sees all of it or nothing."""
    data = json.dumps(outcome.to_json(protocol), allow_nan=False).encode()
    temporary = file.with_name(file.name + ".tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, file)
    except OSError:
        # A kubelet mounts the file itself into a folder that we may not write to; it reads the file
        # only after we have ended.
        file.write_bytes(data)
