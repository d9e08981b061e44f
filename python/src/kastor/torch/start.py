"""Start of a replica."""

from __future__ import annotations

import atexit
import logging
import os
import sys
from pathlib import Path

import torch

from kastor.config import Config
from kastor.ending import exit_status, write_outcome
from kastor.errors import PERMANENT, ConfigError, UsageError
from kastor.protocol import Outcome, OutcomeKind
from kastor.scalars import ScalarFile
from kastor.torch.drift import Drift
from kastor.torch.job import Job

log = logging.getLogger("kastor")


def init(seed: int = 0, log_dir: str | os.PathLike[str] | None = None, drift: str = "repair") -> Job:
    """Makes this process a replica of its job, or a training of its own where no operator is named.

    Args:
        seed: of the order of examples; the same on all replicas.
        log_dir: folder to whose ``metrics.jsonl`` rank 0 adds every value that the script logs; none by default.
        drift: what is done where the states of replicas differ, which they compare now and then: ``repair`` has all
            take the state of one, ``fail`` ends the job with what differs.

    Raises:
        ConfigError: if the operator's variables are missing or wrong; the message names each.
        UsageError: if ``drift`` is neither.
        OSError: if the folder cannot be made.

    In a process that multiprocessing spawns, such as a worker of a DataLoader, the script is imported once more, and
    a call of it at the level of the module gives a job that does nothing: the replica is the process that spawned it.
    """
    if _is_imported_by_a_child():
        return Job(None, seed, torch.device("cpu"))
    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", torch.cuda.current_device())
    try:
        config = Config.read(os.environ)
        if config is not None and not log.handlers and not logging.getLogger().handlers:
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s kastor: %(message)s"))
            log.addHandler(handler)
            log.setLevel(logging.INFO)
        # A number that the user gave PyTorch itself stays.
        if config is not None and config.threads and device.type == "cpu" and not os.environ.get("OMP_NUM_THREADS"):
            torch.set_num_threads(config.threads)
        if drift not in {Drift.REPAIR.value, Drift.FAIL.value}:
            raise UsageError(f"init() takes drift='repair' or drift='fail', but was given {drift!r}.")
        wanted = Drift.CHECK if config is not None and config.check else Drift(drift)
        return Job(config, seed, device, ScalarFile(log_dir) if log_dir is not None else None, wanted)
    except (ConfigError, UsageError, OSError) as e:
        _cannot_start(e)
        raise


def _is_imported_by_a_child() -> bool:
    """Whether multiprocessing imports the script in a child, to find there what the child is to run."""
    imports = False
    frame = sys._getframe()
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if module == "multiprocessing.process":
            # The child runs its target by now.
            return False
        imports = imports or module == "multiprocessing.spawn"
        frame = frame.f_back  # type: ignore[assignment]
    return imports


def _cannot_start(error: Exception) -> None:
    """Sees to it that the operator learns why this replica ends before it was one."""
    permanent = isinstance(error, PERMANENT)
    outcome = Outcome(OutcomeKind.FAILED_PERMANENTLY if permanent else OutcomeKind.FAILED, str(error))
    file = os.environ.get("KASTOR_TERMINATION_LOG", "").strip()
    if file:
        try:
            write_outcome(Path(file), outcome)
        except OSError as e:
            log.error("cannot write the termination message: %s", e)
    atexit.register(lambda: os._exit(exit_status(outcome)))
