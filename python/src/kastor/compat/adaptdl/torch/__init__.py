"""Names of ``adaptdl.torch``."""

from __future__ import annotations

from typing import Any

from kastor.compat.adaptdl.torch.accumulator import Accumulator
from kastor.compat.adaptdl.torch.data import AdaptiveDataLoader
from kastor.compat.adaptdl.torch.epoch import current_epoch, finished_epochs, remaining_epochs_until
from kastor.compat.adaptdl.torch.parallel import AdaptiveDataParallel
from kastor.compat.adaptdl.torch.script import script
from kastor.errors import UsageError
from kastor.torch.job import Job

__all__ = [
    "Accumulator",
    "AdaptiveDataLoader",
    "AdaptiveDataParallel",
    "current_epoch",
    "finish",
    "finished_epochs",
    "init_process_group",
    "remaining_epochs_until",
]

_REFUSED = {
    "current_dataloader": "ask the loader itself for current_batch_size and current_local_bsz.",
    "ElasticSampler": "give AdaptiveDataLoader the data set: it samples so that each example is trained on once.",
}


def init_process_group(
    backend: str = "", init_method: str | None = None, world_size: int | None = None, rank: int | None = None
) -> Job:
    """Joins the job; ``backend`` is ignored, as Kastor chooses it.

    Raises:
        UsageError: if the script says itself how many replicas there are.
    """
    job = script.join()
    if init_method is not None or (world_size or 1) > 1 or rank:
        raise UsageError(
            "init_process_group() was given init_method, world_size or rank, and the operator chooses the replicas."
            " Leave them out, and start the script by kastor run --replicas 1-N."
        )
    return job


def finish(**metrics: Any) -> None:
    """Saves and reports that the work is done; the first metric is the job's."""
    script.job.finish(**metrics)


def __getattr__(name: str) -> Any:
    if name in _REFUSED:
        raise UsageError(f"adaptdl.torch.{name} has no counterpart: {_REFUSED[name]}")
    raise AttributeError(f"module 'kastor.compat.adaptdl' has no attribute {name!r}")
