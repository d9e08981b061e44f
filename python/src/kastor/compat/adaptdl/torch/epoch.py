"""Loop over epochs, by the names of ``adaptdl.torch.epoch``."""

from __future__ import annotations

from collections.abc import Iterator

from kastor.compat.adaptdl.torch.script import script
from kastor.errors import UsageError


def remaining_epochs_until(epoch: int) -> Iterator[int]:
    """Statistical epochs until ``epoch``; all the work of the job, as it is known to the operator.

    Raises:
        UsageError: if there was such a loop before.
    """
    if script.epochs is not None:
        raise UsageError(
            "remaining_epochs_until() was called before. Make one loop of all epochs, and ask current_epoch() where"
            " they differ."
        )
    job = script.job
    script.prepare()
    script.epochs = epoch
    for number in job.epochs(epoch):
        script.in_epoch = True
        try:
            yield number
        finally:
            script.in_epoch = False


def current_epoch() -> int | None:
    """Statistical epoch in which the members are; None outside of the loop over epochs."""
    job = script.job
    return job.epoch if script.in_epoch else None


def finished_epochs() -> int:
    """Number of epochs that are done."""
    job = script.job
    ended = script.epochs is not None and not script.in_epoch
    return job.epoch + 1 if ended else job.epoch
