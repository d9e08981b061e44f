"""Elastic training for the Trainer of Hugging Face Transformers.

::

    class ElasticTrainer(ElasticMixin, Trainer):
        pass

    trainer = ElasticTrainer(model, arguments, train_dataset=train, job=kastor.torch.init())
    trainer.train()
    trainer.job.finish(loss=trainer.evaluate()["eval_loss"])

``num_train_epochs`` are statistical epochs and ``per_device_train_batch_size`` is the initial batch;
``global_step`` counts passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kastor.errors import UsageError
from kastor.torch.job import Job

if TYPE_CHECKING:
    TrainerCallback = object
else:
    from transformers import TrainerCallback

_UNBOUNDED = 10**9


class _Batches:
    """Batches of the whole training in one loop, which the callback ends."""

    def __init__(self, job: Job, dataset: Any, batch_size: int, epochs: int, options: dict[str, Any]) -> None:
        self._job, self.dataset, self._batch_size = job, dataset, batch_size
        self._epochs, self._options = epochs, options

    def __len__(self) -> int:
        return _UNBOUNDED

    def __iter__(self) -> Iterator[Any]:
        return self._job.batches(self.dataset, self._batch_size, self._epochs, **self._options)


class _EndsWithTheWork(TrainerCallback):
    def __init__(self, job: Job) -> None:
        self._job = job

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        state.max_steps = _UNBOUNDED

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        # Else the Trainer would go round epochs without batches.
        control.should_training_stop = self._job.progress >= 1


class ElasticMixin:
    """Mixin of a ``Trainer`` that makes it a replica of an elastic job; stands before it among the bases."""

    args: Any
    model: Any
    optimizer: Any
    lr_scheduler: Any
    train_dataset: Any
    data_collator: Any

    def __init__(self, *args: Any, job: Job, **kwargs: Any) -> None:
        """Takes the arguments of a ``Trainer`` and the job.

        Raises:
            UsageError: if these arguments cannot be trained elastically.
        """
        super().__init__(*args, **kwargs)
        self.job = job
        if self.args.gradient_accumulation_steps != 1:
            raise UsageError("gradient_accumulation_steps must be 1: the job's batch plan says how passes accumulate.")
        if self.args.max_steps > 0:
            raise UsageError("max_steps counts passes here. Say num_train_epochs, or goodput.work in the manifest.")
        if self.train_dataset is None:
            raise UsageError(
                "ElasticMixin needs train_dataset: its share goes to each replica. Give it to the Trainer."
            )
        self.add_callback(_EndsWithTheWork(job))  # type: ignore[attr-defined]

    @property
    def _whole_epochs(self) -> int:
        epochs: float = self.args.num_train_epochs
        return math.ceil(epochs)

    def get_train_dataloader(self) -> Any:
        """Loader of this replica's share."""
        options = {"collate_fn": self.data_collator, "num_workers": self.args.dataloader_num_workers}
        return _Batches(
            self.job, self.train_dataset, self.args.per_device_train_batch_size, self._whole_epochs, options
        )

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """Schedule in steps of the initial batch; registers what is trained, as all of it exists now."""
        batch = self.args.per_device_train_batch_size
        steps = math.ceil(self._whole_epochs * len(self.train_dataset) / batch)
        scheduler = super().create_scheduler(steps, optimizer)  # type: ignore[misc]
        self.job.prepare(self.model, self.optimizer, scheduler)
        return scheduler
