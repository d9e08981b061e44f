"""Loader of a script, by the name of ``adaptdl.torch.data``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import torch
from torch.utils.data import DataLoader

from kastor.compat.adaptdl.torch.parallel import write_scalars
from kastor.compat.adaptdl.torch.script import script
from kastor.errors import UsageError

log = logging.getLogger("kastor")


class AdaptiveDataLoader:
    """Loader of this replica's share of each step in training, and of its share of all batches elsewhere.

    It trains where gradients are computed, other than in a second loader while all models are in evaluation mode.
    Evaluated are whole batches of ``batch_size`` in the order of the data set, each by one replica. ``drop_last`` is
    ignored, as nothing is dropped. A script may make it anew in each epoch, with a data set of the same length.

    Args:
        dataset: with ``__len__`` and ``__getitem__``.
        batch_size: over all replicas; that of training is the manifest's ``goodput.batchSize.initial``.
        shuffle: whether each epoch of training has an order of its own.
        drop_last: ignored.
        options: further ones of ``torch.utils.data.DataLoader``.
    """

    def __init__(
        self, dataset: Any, batch_size: int = 1, shuffle: bool = False, drop_last: bool = False, **options: Any
    ) -> None:
        self.dataset, self.batch_size = dataset, batch_size
        self._shuffle, self._options = shuffle, options

    def autoscale_batch_size(
        self,
        max_batch_size: int,
        local_bsz_bounds: tuple[int | None, int | None] | None = None,
        gradient_accumulation: bool = False,
    ) -> None:
        """Does nothing: bounds are ``goodput.batchSize.max``, ``.perDevice`` and ``.gradientAccumulation``."""
        log.info("autoscale_batch_size() is ignored: the bounds of the manifest's goodput.batchSize are used")

    @property
    def current_batch_size(self) -> int:
        """Global batch in force."""
        return script.job.batch_size

    @property
    def current_local_bsz(self) -> int:
        """Examples of one pass of this replica."""
        return script.job.atomic_batch_size

    @property
    def accumulation_steps(self) -> int:
        """Passes of a step before its last one."""
        return script.job.batch_size // (script.job.atomic_batch_size * script.job.replicas) - 1

    @property
    def training(self) -> bool:
        """Whether this is the loader that was trained from last."""
        return script.loader is self

    def to_tensorboard(self, writer: Any, global_step: int, tag_prefix: str = "") -> None:
        """Writes the batch in force as scalars."""
        scalars = {
            "Total_Batch_Size": float(self.current_batch_size),
            "Local_Batch_Size": float(self.current_local_bsz),
            "Accumulation_Steps": float(self.accumulation_steps),
        }
        write_scalars(writer, scalars, global_step, tag_prefix)

    def __len__(self) -> int:
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        """Turns of an epoch of training; this replica's batches of all of the data, where nothing is trained."""
        return self._evaluated() if self._evaluates() else self._trained()

    def _evaluates(self) -> bool:
        if not torch.is_grad_enabled():
            return True
        return script.loader not in (None, self) and not any(model.module.training for model in script.models)

    def _trained(self) -> Iterator[Any]:
        job = script.job
        script.prepare()
        # Made anew, as its workers are those of AdaptDL: a script may change the data set between two epochs.
        loader = job.loader(self.dataset, self.batch_size, self._shuffle, **self._options)
        examples = loader._order.examples
        if script.examples not in (None, examples):
            raise UsageError(
                f"A loader of {examples} examples is trained from, after one of {script.examples}. All epochs have the"
                " same length; evaluate in torch.no_grad()."
            )
        script.loader, script.examples = self, examples
        job._loader = None
        with closing(iter(loader)) as turns:  # type: ignore[type-var]
            for batch in turns:
                script.turn()
                try:
                    yield batch
                finally:
                    script.turned()

    def _evaluated(self) -> Iterator[Any]:
        job = script.job
        with ExitStack() as stack:
            stack.enter_context(job.evaluating())
            if torch.is_grad_enabled():
                for model in script.models:
                    hook = model._state.optimizer.register_step_pre_hook(_refuse)
                    stack.callback(hook.remove)
            every = range(0, len(self.dataset), self.batch_size)
            own = every[job.rank :: job.replicas]
            batches = [list(range(n, min(n + self.batch_size, len(self.dataset)))) for n in own]
            yield from DataLoader(self.dataset, batch_sampler=batches, **self._options)


def _refuse(*_: Any) -> None:
    raise UsageError(
        "optimizer.step() ran in a loop over a second loader while all models are in evaluation mode, which is taken"
        " for an evaluation. Train from one loader, or call model.train() before."
    )
