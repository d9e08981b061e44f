"""Elastic training for Lightning.

::

    elastic = Elastic(kastor.torch.init())
    trainer = Trainer(devices=1, max_epochs=30, callbacks=[elastic])
    trainer.fit(module, elastic.loader(train, batch_size=128))
    elastic.job.finish(accuracy=...)

The module stays as it is: one optimizer, automatic optimization, its learning rate at the initial batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kastor.errors import UsageError
from kastor.torch.job import Job

if TYPE_CHECKING:
    Callback = object
else:
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

_UNBOUNDED = 10**9


class _Batches:
    """Batches of one epoch after the other. Of a known length, else Lightning would fetch one ahead."""

    def __init__(self, job: Job, dataset: Any, batch_size: int | None, shuffle: bool, options: dict[str, Any]) -> None:
        self._loader = job.loader(dataset, batch_size, shuffle, **options)
        self.dataset, self.batch_size = dataset, self._loader.batch_size

    def __len__(self) -> int:
        return _UNBOUNDED

    def __iter__(self) -> Iterator[Any]:
        return iter(self._loader)


class Elastic(Callback):
    """Callback by which a Trainer of one device becomes a replica of an elastic job.

    Lightning's epochs are statistical ones; its ``global_step`` counts passes.
    """

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self._epochs: Iterator[int] | None = None

    def loader(self, dataset: Any, batch_size: int | None = None, shuffle: bool = True, **options: Any) -> Any:
        """Loader for ``Trainer.fit``; arguments as of :meth:`kastor.torch.Job.loader`."""
        return _Batches(self.job, dataset, batch_size, shuffle, options)

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Registers what the Trainer made of the module.

        Raises:
            UsageError: if the Trainer or the module cannot be trained elastically.
        """
        if trainer.world_size != 1:
            raise UsageError(f"Trainer trains on {trainer.world_size} devices. Use devices=1: replicas are Kastor's.")
        if trainer.accumulate_grad_batches != 1:
            raise UsageError("accumulate_grad_batches must be 1: the job's batch plan says how passes are accumulated.")
        if not pl_module.automatic_optimization or len(trainer.optimizers) != 1:
            raise UsageError(
                "The module must have one optimizer and automatic_optimization. Put the parameters of several"
                " optimizers into groups of one."
            )
        schedules = trainer.lr_scheduler_configs
        if len(schedules) > 1:
            raise UsageError(
                "The module must have at most one scheduler. Join several by SequentialLR or ChainedScheduler."
            )
        scaler = getattr(trainer.precision_plugin, "scaler", None)
        scheduler = schedules[0].scheduler if schedules else None
        self.job.prepare(pl_module, trainer.optimizers[0], scheduler, scaler)
        if not trainer.max_epochs or trainer.max_epochs < 1:
            raise UsageError("Trainer needs max_epochs of at least 1.")
        self._epochs = self.job.epochs(trainer.max_epochs)

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Begins the next epoch."""
        if self._epochs is not None:
            next(self._epochs, None)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Tells Lightning where a replica that joined is."""
        trainer.fit_loop.epoch_progress.current.processed = self.job.epoch

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Ends the fit when the declared work is done."""
        if self.job.progress >= 1:
            trainer.should_stop = True
