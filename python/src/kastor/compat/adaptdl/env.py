"""Environment of this replica, by the names of ``adaptdl.env``."""

from __future__ import annotations

import logging
import os

from kastor.compat.adaptdl.torch.script import script
from kastor.errors import UsageError

__all__ = [
    "adaptdl_sched_version",
    "checkpoint_path",
    "from_ray",
    "job_id",
    "master_addr",
    "master_port",
    "num_nodes",
    "num_replicas",
    "num_restarts",
    "replica_rank",
    "share_path",
    "supervisor_url",
]

log = logging.getLogger("kastor")

_warned: set[str] = set()


def job_id() -> str:
    """Namespace and name of the job, as ``team-a/cnn``; alone ``ADAPTDL_JOB_ID``, or ``alone``."""
    name = os.environ.get("KASTOR_JOB")
    if name:
        return f"{os.environ.get('KASTOR_NAMESPACE', 'default')}/{name}"
    return os.environ.get("ADAPTDL_JOB_ID", "alone")


def share_path() -> str:
    """Folder that all replicas read and write: the variable ``ADAPTDL_SHARE_PATH``, which the template sets.

    Raises:
        UsageError: if it is not set, as Kastor mounts no volume of its own for data.
    """
    path = os.environ.get("ADAPTDL_SHARE_PATH")
    if not path:
        # So that the operator learns why the script ends.
        script.join()
        raise UsageError(
            "share_path() needs the variable ADAPTDL_SHARE_PATH. Set it to a folder that all replicas see: a volume of"
            " the template on a cluster, kastor run -e ADAPTDL_SHARE_PATH=FOLDER on one machine."
        )
    return path


def checkpoint_path() -> str | None:
    """Folder of the job's checkpoints, which Kastor writes and reads; None alone."""
    return os.environ.get("ADAPTDL_CHECKPOINT_PATH") or os.environ.get("KASTOR_CHECKPOINT_DIR")


def replica_rank() -> int:
    """Rank of this replica; 0 on all of them before their first loop over batches."""
    _warn_before_the_loop("replica_rank() is 0")
    return script.joined.rank if script.joined else 0


def num_replicas() -> int:
    """Number of replicas; 1 before the first loop over batches."""
    _warn_before_the_loop("num_replicas() is 1")
    return script.joined.replicas if script.joined else 1


def num_nodes() -> int:
    """Number of nodes on which there are replicas; 1 before the first loop over batches."""
    _warn_before_the_loop("num_nodes() is 1")
    return script.joined._training.members.membership.nodes if script.joined else 1


def num_restarts() -> int:
    """Number of changes of members since the job began; no process starts anew for one."""
    return max(0, script.joined.generation - 1) if script.joined else 0


def from_ray() -> bool:
    """Flag of a run in Ray: False, as Kastor's operator places the replicas."""
    return False


def supervisor_url() -> str | None:
    """Address of a supervisor: None, as there is none."""
    return None


def adaptdl_sched_version() -> str | None:
    """Version of AdaptDL's scheduler: None, as there is none."""
    return None


def master_addr() -> str:
    """Address of a master, which is refused, as replicas have none.

    Raises:
        UsageError: always.
    """
    raise UsageError("master_addr() has no counterpart: replicas come and go, and none of them is a master.")


def master_port() -> int:
    """Port of a master, which is refused, as replicas have none.

    Raises:
        UsageError: always.
    """
    raise UsageError("master_port() has no counterpart: replicas come and go, and none of them is a master.")


def _warn_before_the_loop(what: str) -> None:
    """Says that members are not known yet, where there are any."""
    known = script.joined is not None and script.joined.generation > 0
    if os.environ.get("KASTOR_JOB") and not known and what not in _warned:
        _warned.add(what)
        log.warning("%s on each replica before its first loop over batches: ask in or after the loop", what)
