"""Names of AdaptDL's PyTorch client, for scripts that were written for it.

Change ``import adaptdl.torch as adl`` to ``import kastor.compat.adaptdl as adl``; the rest stays. What
differs: one data loader and one model, batches are chosen by the operator within the bounds of the
manifest rather than in the process, no example is padded or dropped, and code before a loop need not be
idempotent, as no process starts anew when the job's size changes. (AdaptDL: Pollux, OSDI 2021.)
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import torch

from kastor.errors import UsageError
from kastor.torch.job import Job
from kastor.torch.start import init

__all__ = [
    "Accumulator",
    "AdaptiveDataLoader",
    "AdaptiveDataParallel",
    "current_epoch",
    "finish",
    "init_process_group",
    "remaining_epochs_until",
]

log = logging.getLogger("kastor")

_job: Job | None = None


def init_process_group(backend: str = "", **_: Any) -> Job:
    """Joins the job; Kastor chooses the backend itself."""
    global _job
    if _job is None:
        _job = init()
    return _job


def _joined() -> Job:
    if _job is None:
        raise UsageError("Call init_process_group() first.")
    return _job


def AdaptiveDataParallel(  # noqa: N802 - AdaptDL's name
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    lr_scheduler: Any | None = None,
    mp_scaler: Any | None = None,
    scaling_rule: Any | None = None,
    **_: Any,
) -> torch.nn.Module:
    """Registers the model and returns it as it is.

    ``scaling_rule`` is the manifest's ``goodput.learningRate.scaling``: AdaScale, SquareRoot (AdaptDL's
    AdamScale and SqrtScale) or Linear.
    """
    if scaling_rule is not None:
        log.warning("scaling_rule is ignored: goodput.learningRate.scaling of the manifest is used")
    _joined().prepare(model, optimizer, lr_scheduler, mp_scaler)
    return model


class AdaptiveDataLoader:
    """Loader of this replica's share of each step; ``drop_last`` is ignored, as nothing is dropped."""

    def __init__(
        self, dataset: Any, batch_size: int = 1, shuffle: bool = False, drop_last: bool = False, **options: Any
    ) -> None:
        self.dataset, self.batch_size = dataset, batch_size
        self._shuffle, self._options = shuffle, options
        self._loader: Any = None

    def autoscale_batch_size(
        self,
        max_batch_size: int,
        local_bsz_bounds: tuple[int, int] | None = None,
        gradient_accumulation: bool = False,
    ) -> None:
        """Does nothing: bounds are ``goodput.batchSize.max``, ``.perDevice`` and ``.gradientAccumulation``."""
        log.info("autoscale_batch_size() is ignored: the bounds of the manifest's goodput.batchSize are used")

    @property
    def current_batch_size(self) -> int:
        """Global batch in force."""
        return _joined().batch_size

    @property
    def current_local_bsz(self) -> int:
        """Examples of one pass of this replica."""
        return _joined().atomic_batch_size

    def __len__(self) -> int:
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        """Turns of an epoch of training; all of the data, sharded over the replicas, where nothing is trained."""
        if not torch.is_grad_enabled():
            shard = _joined().sharded(self.dataset)
            return iter(torch.utils.data.DataLoader(shard, self.batch_size, **self._options))
        if self._loader is None:
            self._loader = _joined().loader(self.dataset, self.batch_size, self._shuffle, **self._options)
        return iter(self._loader)


def remaining_epochs_until(epoch: int) -> Iterator[int]:
    """Statistical epochs until ``epoch``."""
    return _joined().epochs(epoch)


def current_epoch() -> int:
    """Statistical epoch in which the members are."""
    return _joined().epoch


class Accumulator(MutableMapping[str, float]):
    """Sums of this replica, which :meth:`synchronized` turns into those of all replicas."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._values: dict[str, float] = dict(*args, **kwargs)

    def __getitem__(self, key: str) -> float:
        return self._values.get(key, 0.0)

    def __setitem__(self, key: str, value: float) -> None:
        self._values[key] = float(value)

    def __delitem__(self, key: str) -> None:
        del self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @contextmanager
    def synchronized(self) -> Iterator[Accumulator]:
        """Context in which the values are sums over the replicas; all must enter it, with the same keys."""
        job, own = _joined(), dict(self._values)
        self._values = {key: job.average(own[key]) * job.replicas for key in sorted(own)}
        try:
            yield self
        finally:
            self._values = {}


def finish(**metrics: Any) -> None:
    """Saves and reports that the work is done."""
    _joined().finish(**metrics)
