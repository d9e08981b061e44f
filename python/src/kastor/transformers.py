"""Elastic training for the Trainer of Hugging Face Transformers.

::

    class ElasticTrainer(ElasticMixin, Trainer):
        pass

    trainer = ElasticTrainer(model, arguments, train_dataset=train, job=kastor.torch.init())
    trainer.train()
    trainer.job.finish(loss=trainer.evaluate()["eval_loss"])

``num_train_epochs`` are statistical epochs and ``per_device_train_batch_size`` is the initial batch; ``global_step``,
and what the arguments count in steps, are steps at that batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from kastor.errors import UsageError
from kastor.torch.job import Job
from kastor.torch.turns import Turns

if TYPE_CHECKING:
    DefaultFlowCallback = object
else:
    from transformers.trainer_callback import DefaultFlowCallback

_UNBOUNDED = 10**9


class _Flow(DefaultFlowCallback):
    """Flow of a Trainer whose steps are those at the initial batch: what is due, and when an epoch and all is over."""

    def __init__(self, trainer: Any) -> None:
        self._trainer, self._job = trainer, trainer.job
        self._epochs: Iterator[int] | None = None
        # None until the first step: a replica that joins has not to make up for what was before.
        self._steps: int | None = None
        self._losses = _Losses(trainer)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._epochs = self._job.epochs(args.num_train_epochs)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        assert self._epochs is not None
        next(self._epochs, None)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        job = self._job
        if job.rehearsing:
            state.global_step = 0
            self._trainer._tr_loss.zero_()
            return control
        # The last step may bring more than was left.
        now = min(math.floor(job.scale_invariant_steps + 1e-9), state.max_steps)
        before = (0 if job.step <= 1 else now) if self._steps is None else self._steps
        if job.progress >= 1:
            now = state.max_steps
        self._steps = state.global_step = now
        state.epoch = job.epoch + job.epoch_progress if job.progress < 1 else float(args.num_train_epochs)
        self._losses.take(now)

        def due(strategy: Any, every: float) -> bool:
            return strategy == "steps" and every > 0 and now // every > before // every

        control.should_log |= due(args.logging_strategy, state.logging_steps)
        control.should_log |= args.logging_first_step and before == 0 < now
        late_enough = args.eval_delay <= now
        control.should_evaluate |= late_enough and due(args.eval_strategy, state.eval_steps)
        control.should_save |= due(args.save_strategy, state.save_steps)
        if job.epoch_progress >= 1 and self._trainer.turns.ended():
            control.should_epoch_stop = True
            if job.progress >= 1:
                control.should_training_stop = True
                control.should_evaluate |= late_enough and args.eval_strategy == "steps"
                control.should_save |= args.save_strategy == "steps"
        return control


class _Losses:
    """Losses that a Trainer has added up, a pass each, made what it takes them for: a loss for each of its steps."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer
        self._logged_at = 0
        self._sum: torch.Tensor | float = 0.0
        self._left: torch.Tensor | float = 0.0
        self._passes = 0

    def take(self, now: int) -> None:
        """Takes the loss of the last pass, where ``now`` steps are done."""
        total = self._trainer._tr_loss
        if self._trainer._globalstep_last_logged != self._logged_at:
            self._logged_at, self._sum, self._left, self._passes = self._trainer._globalstep_last_logged, 0.0, 0.0, 0
        self._sum = self._sum + (total - self._left)
        self._passes += 1
        self._left = self._sum / self._passes * max(0, now - self._logged_at)
        total.copy_(self._left)


class ElasticMixin:
    """Mixin of a ``Trainer`` that makes it a replica of an elastic job; stands before it among the bases."""

    args: Any
    model: Any
    optimizer: Any
    lr_scheduler: Any
    accelerator: Any
    train_dataset: Any
    data_collator: Any
    callback_handler: Any

    def __init__(self, *args: Any, job: Job, **kwargs: Any) -> None:
        """Takes the arguments of a ``Trainer`` and the job.

        Raises:
            UsageError: if these arguments cannot be trained elastically.
        """
        super().__init__(*args, **kwargs)
        if not hasattr(self, "_run_epoch"):
            raise UsageError(
                "The Trainer is one of before Transformers 5, which counts steps otherwise. Install a newer."
            )
        self.job = job
        if self.args.gradient_accumulation_steps != 1:
            raise UsageError("gradient_accumulation_steps must be 1: the job's batch plan says how passes accumulate.")
        if self.args.max_steps > 0:
            raise UsageError("max_steps counts passes here. Say num_train_epochs, or goodput.work in the manifest.")
        if self.train_dataset is None:
            raise UsageError(
                "ElasticMixin needs train_dataset: its share goes to each replica. Give it to the Trainer."
            )
        self.callback_handler.pop_callback(DefaultFlowCallback)
        # Before all others, which look at what it says.
        self.callback_handler.callbacks.insert(0, _Flow(self))

    def get_train_dataloader(self) -> Any:
        """Loader of this replica's share."""
        dataset, collator = self.train_dataset, self.data_collator
        if type(dataset).__module__.partition(".")[0] == "datasets":
            dataset = self._remove_unused_columns(dataset, description="training")  # type: ignore[attr-defined]
        else:
            collator = self._get_collator_with_removed_columns(  # type: ignore[attr-defined]
                collator, description="training"
            )
        batch, workers = self.args.per_device_train_batch_size, self.args.dataloader_num_workers
        self.turns = Turns(self.job.loader(dataset, batch, collate_fn=collator, num_workers=workers))
        return self.turns

    def set_initial_training_values(self, *args: Any, **kwargs: Any) -> Any:
        """Figures of a training at the initial batch; how many passes an epoch takes is known at its end alone."""
        values = list(super().set_initial_training_values(*args, **kwargs))  # type: ignore[misc]
        values[1] = _UNBOUNDED
        return tuple(values)

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """Schedule in steps of the initial batch; registers what is trained, as all of it exists now."""
        scheduler = super().create_scheduler(num_training_steps, optimizer)  # type: ignore[misc]
        self.job.prepare(self.model, self.optimizer, scheduler, getattr(self.accelerator, "scaler", None))
        return scheduler

    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """Metrics of held-out data, for which the operator has patience."""
        with self.job.evaluating():
            return super().evaluate(*args, **kwargs)  # type: ignore[misc]
