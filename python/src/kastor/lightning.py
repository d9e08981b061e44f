"""Elastic training for Lightning.

::

    elastic = Elastic(kastor.torch.init())
    trainer = Trainer(devices=1, max_epochs=30, callbacks=[elastic])
    trainer.fit(module, elastic.loader(train, batch_size=128), validation_loader)
    elastic.job.finish(accuracy=...)

The module stays as it is: one optimizer, automatic optimization, its learning rate at the initial batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from kastor.errors import UsageError
from kastor.torch.job import Job
from kastor.torch.state import OptionalPart
from kastor.torch.turns import Turns

if TYPE_CHECKING:
    Callback = object
    EarlyStopping: Any = object
else:
    try:
        from lightning.pytorch import Callback
        from lightning.pytorch.callbacks import EarlyStopping
    except ImportError:
        from pytorch_lightning import Callback
        from pytorch_lightning.callbacks import EarlyStopping


_NEVER = 10**12  # Batches.


class _Batches(Turns):
    """Batches of one epoch after the other."""

    def __init__(self, elastic: Elastic, dataset: Any, batch_size: int | None, shuffle: bool, options: Any) -> None:
        super().__init__(elastic.job.loader(dataset, batch_size, shuffle, **options))
        self._elastic = elastic

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()
        self._elastic._ran_out()


class _Stops(OptionalPart):
    """State of callbacks that end a training early, which a replica that joins takes over."""

    def __init__(self, callbacks: list[Any]) -> None:
        self._callbacks = callbacks

    def state_dict(self) -> dict[str, Any]:
        return {str(number): callback.state_dict() for number, callback in enumerate(self._callbacks)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for number, callback in enumerate(self._callbacks):
            callback.load_state_dict(state[str(number)])


class Elastic(Callback):
    """Callback by which a Trainer of one device becomes a replica of an elastic job.

    Lightning's epochs are statistical ones, at whose ends it validates; its ``global_step`` counts passes.
    """

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self._epochs: Iterator[int] | None = None
        self._trainer: Any = None
        self._evaluating = ExitStack()
        self._over = False
        # None until the first step: a replica that joins amid an epoch has not to make up for what was before.
        self._validations: int | None = None

    def loader(self, dataset: Any, batch_size: int | None = None, shuffle: bool = True, **options: Any) -> Any:
        """Loader for ``Trainer.fit``; arguments as of :meth:`kastor.torch.Job.loader`."""
        self._loader = _Batches(self, dataset, batch_size, shuffle, options)
        return self._loader

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Registers what the Trainer made of the module.

        Raises:
            UsageError: if the Trainer or the module cannot be trained elastically.
        """
        if trainer.world_size != 1:
            raise UsageError(f"Trainer trains on {trainer.world_size} devices. Use devices=1: replicas are Kastor's.")
        if trainer.accumulate_grad_batches != 1:
            raise UsageError(
                f"accumulate_grad_batches is {trainer.accumulate_grad_batches}, and passes are added up by the job's"
                " batch plan. Leave it out, and give elastic.loader that many times its batch_size."
            )
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
        stops = _Stops([callback for callback in trainer.callbacks if isinstance(callback, EarlyStopping)])
        self.job.prepare(pl_module, trainer.optimizers[0], scheduler, scaler, stops=stops)
        if not trainer.max_epochs or trainer.max_epochs < 1:
            raise UsageError("Trainer needs max_epochs of at least 1.")
        self._trainer, self._epochs = trainer, self.job.epochs(trainer.max_epochs)

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Begins the next epoch."""
        self._over = False
        if self._validations is not None and trainer.check_val_every_n_epoch is not None:
            self._validations = 0
        if self._epochs is not None:
            next(self._epochs, None)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Tells Lightning where a replica that joined is."""
        trainer.fit_loop.epoch_progress.current.processed = self.job.epoch

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Tells Lightning whether that was the last batch of the epoch, and whether it is time to validate."""
        fit, progress = trainer.fit_loop, trainer.fit_loop.epoch_loop.batch_progress
        done = 0.0 if self.job.rehearsing else self.job.epoch_progress
        self._over = done >= 1 and self._loader.ended()
        # It counts batches, and would fetch no more than an epoch has at the initial batch.
        progress.is_last_batch = fit._data_fetcher.done = self._over
        fit.max_batches = progress.current.ready + self._passes_left(done)
        if trainer.val_check_batch is not None:  # Else it goes by the clock.
            trainer.val_check_batch = self._interval(trainer, done)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """Asks the operator for patience."""
        self._evaluating.enter_context(self.job.evaluating())

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Goes on training."""
        self._evaluating.close()

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Ends the fit when the declared work is done, or when any replica wants to."""
        if self.job.sum(float(trainer.should_stop)) > 0 or self.job.progress >= 1:
            trainer.should_stop = True

    def _passes_left(self, done: float) -> int:
        """Passes that the rest of the epoch takes, as steps are now: of use for progress bars alone."""
        if done >= 1:
            return 0
        job, figures = self.job, self.job.metrics()
        passes = max(1, job.batch_size // max(1, job.replicas * job.atomic_batch_size))
        return max(1, math.ceil((1 - done) * len(self._loader) / figures.get("gain", 1.0) * passes))

    def _interval(self, trainer: Any, done: float) -> float:
        """Interval between validations, in batches, from which Lightning concludes whether to validate now."""
        every = trainer.val_check_interval
        if isinstance(every, int):
            # Batches of the initial size: those of this epoch, or of all.
            every /= len(self._loader)
            if trainer.check_val_every_n_epoch is None:
                done += self.job.epoch
        due = math.floor(done / every + 1e-9)
        if self._validations is None and not self.job.rehearsing:
            self._validations = 0 if self.job.step <= 1 else due
        if self._validations is None:
            return _NEVER
        now, self._validations = due > self._validations, max(due, self._validations)
        if self._over and isinstance(trainer.val_check_interval, float):
            return math.inf  # At the last batch.
        return 1 if now else _NEVER

    def _ran_out(self) -> None:
        """Validates at the end of an epoch of which this replica has trained no batch, as it joined at its very end."""
        fit = self._trainer.fit_loop
        if self._over or not fit.epoch_loop._should_check_val_epoch():
            return
        self._trainer.validating = True
        fit.epoch_loop.val_loop.run()
        self._trainer.training = True
