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

import copy
import math
import time
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from kastor.errors import UsageError
from kastor.torch.job import Job
from kastor.torch.state import OptionalPart
from kastor.torch.turns import Turns

if TYPE_CHECKING:
    DefaultFlowCallback = object
    ExportableState = object
else:
    from transformers.trainer_callback import DefaultFlowCallback, ExportableState

_UNBOUNDED = 10**9
# Of a checkpoint of the Trainer's the file that is written last.
_WHOLE = "trainer_state.json"
# A folder that machines share may show later what another one wrote; rank 0 may still be writing.
_SEEN_SECONDS = 30.0


class _Flow(DefaultFlowCallback):
    """Flow of a Trainer whose steps are those at the initial batch: what is due, and when an epoch and all is over."""

    def __init__(self, trainer: Any) -> None:
        self._trainer, self._job = trainer, trainer.job
        self._epochs: Iterator[int] | None = None
        self._before = 0
        self._stepped = False
        self._losses = _Losses(trainer)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._epochs = self._job.epochs(args.num_train_epochs)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        assert self._epochs is not None
        next(self._epochs, None)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._before = self._done(state)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        job = self._job
        if job.rehearsing:
            state.global_step = 0
            self._trainer._tr_loss.zero_()
            return control
        self._stepped = True
        now, before = self._place(args, state), self._before
        self._losses.take(now)

        def due(strategy: Any, every: float) -> bool:
            return strategy == "steps" and every > 0 and now // every > before // every

        control.should_log |= due(args.logging_strategy, state.logging_steps)
        control.should_log |= args.logging_first_step and before == 0 < now
        late_enough = args.eval_delay <= now
        control.should_evaluate |= late_enough and due(args.eval_strategy, state.eval_steps)
        control.should_save |= due(args.save_strategy, state.save_steps)
        if job.epoch_progress >= 1:
            control.should_epoch_stop = True
            if job.progress >= 1:
                control.should_training_stop = True
                control.should_evaluate |= late_enough and args.eval_strategy == "steps"
                control.should_save |= args.save_strategy == "steps"
        return control

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        job = self._job
        if job.epoch_progress >= 1:
            # Replicas that join here have trained no batch of the epoch, and evaluate with the others.
            self._trainer.turns.ended()
            now = self._place(args, state)
            if not self._stepped:
                self._trainer._globalstep_last_logged = now
            control.should_training_stop |= job.progress >= 1
        return super().on_epoch_end(args, state, control, **kwargs)  # type: ignore[misc]

    def _place(self, args: Any, state: Any) -> int:
        """Notes in the Trainer's state where the job is; its steps."""
        job = self._job
        state.global_step = self._done(state)
        state.epoch = job.epoch + job.epoch_progress if job.progress < 1 else float(args.num_train_epochs)
        return int(state.global_step)

    def _done(self, state: Any) -> int:
        """Steps at the initial batch that are done."""
        job, most = self._job, int(state.max_steps)
        # The last step may bring more than was left.
        return most if job.progress >= 1 else min(math.floor(job.scale_invariant_steps + 1e-9), most)


class _Known(OptionalPart):
    """State of a Trainer that a replica which joins takes over: which step was best, and what callbacks count."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    def _callbacks(self) -> list[Any]:
        # Those that a checkpoint of the Trainer's has too.
        return [each for each in self._trainer.callback_handler.callbacks if isinstance(each, ExportableState)]

    def state_dict(self) -> dict[str, Any]:
        state = self._trainer.state
        counted = [each.state()["attributes"] for each in self._callbacks()]
        return {"best_metric": state.best_metric, "best_global_step": state.best_global_step, "callbacks": counted}

    def load_state_dict(self, found: dict[str, Any]) -> None:
        state = self._trainer.state
        state.best_metric, state.best_global_step = found["best_metric"], found["best_global_step"]
        for callback, attributes in zip(self._callbacks(), found["callbacks"], strict=True):
            for name, value in attributes.items():
                setattr(callback, name, value)
        self._trainer._find_best()


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


def _is_measured(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, Integral)


def _in_one_pass(argument: Any) -> Any:
    """Arguments of a Trainer with the batch of one pass, as passes are added up by the job's batch plan."""
    passes = getattr(argument, "gradient_accumulation_steps", 1)
    if not hasattr(argument, "per_device_train_batch_size") or passes == 1:
        return argument
    argument = copy.copy(argument)
    argument.per_device_train_batch_size *= passes
    argument.gradient_accumulation_steps = 1
    return argument


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
    state: Any
    control: Any
    is_in_train: bool

    def __init__(self, *args: Any, job: Job, **kwargs: Any) -> None:
        """Takes the arguments of a ``Trainer`` and the job.

        Raises:
            UsageError: if these arguments cannot be trained elastically.
        """
        super().__init__(*(_in_one_pass(each) for each in args), **{n: _in_one_pass(v) for n, v in kwargs.items()})
        if not hasattr(self, "_run_epoch"):
            raise UsageError(
                "The Trainer is one of before Transformers 5, which counts steps otherwise. Install a newer."
            )
        self.job = job
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

    def get_batch_samples(self, *args: Any, **kwargs: Any) -> Any:
        """Next batches; without any the epoch is over, which ends it for a replica that has trained nothing of it."""
        found = super().get_batch_samples(*args, **kwargs)  # type: ignore[misc]
        if not found[0]:
            self.control.should_epoch_stop = True
        return found

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """Schedule in steps of the initial batch; registers what is trained, as all of it exists now."""
        scheduler = super().create_scheduler(num_training_steps, optimizer)  # type: ignore[misc]
        scaler = getattr(self.accelerator, "scaler", None)
        self.job.prepare(self.model, self.optimizer, scheduler, scaler, trainer=_Known(self))
        return scheduler

    def train(self, resume_from_checkpoint: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Training to its end.

        Raises:
            UsageError: if it is to go on from a checkpoint of the Trainer's.
        """
        if resume_from_checkpoint:
            raise UsageError(
                "resume_from_checkpoint is Kastor's: a job goes on from its own newest checkpoint. Leave it out; to"
                " begin with trained weights, load them into the model."
            )
        return super().train(None, *args, **kwargs)  # type: ignore[misc]

    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """Metrics of held-out data, for which the operator has patience."""
        with self.job.evaluating():
            return super().evaluate(*args, **kwargs)  # type: ignore[misc]

    def evaluation_loop(self, *args: Any, **kwargs: Any) -> Any:
        """Results of an evaluation; amid the training its metrics are those of rank 0, as decisions hang on them."""
        output = super().evaluation_loop(*args, **kwargs)  # type: ignore[misc]
        if self.is_in_train and output.metrics:
            found = {name: float(value) for name, value in output.metrics.items() if _is_measured(value)}
            output.metrics.update(self.job.of_rank0(found))
        return output

    # --- checkpoints of the Trainer's, which are results: Kastor's own are beside them ---

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Writes the model, on rank 0; on all others where it has died since the last step."""
        if _internal_call or self.job.writes:
            super().save_model(output_dir, _internal_call)  # type: ignore[misc]

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        with self.job.saving():
            self._save_once(super()._save_checkpoint, model, trial)  # type: ignore[misc]

    def _save_once(self, save: Callable[[Any, Any], None], model: Any, trial: Any) -> None:
        if self.job.rank == 0:
            save(model, trial)
        # The others wait for rank 0; where it died meanwhile, each writes the same.
        together = self.job.together()
        if not self._seen(self.state.global_step, _SEEN_SECONDS):
            if together:
                raise UsageError(
                    f"The checkpoint of step {self.state.global_step} that rank 0 wrote is not in"
                    f" {self.args.output_dir} of this replica. Give output_dir a folder that all replicas share, or"
                    ' save_strategy="no".'
                )
            save(model, trial)
        self._find_best()

    def _find_best(self) -> None:
        """Notes where the checkpoint of the best step is."""
        best = self.state.best_global_step
        if best and self._seen(best):
            self.state.best_model_checkpoint = str(self._checkpoint_of(best))

    def _checkpoint_of(self, step: int) -> Path:
        return Path(self.args.output_dir) / f"checkpoint-{step}"

    def _seen(self, step: int, seconds: float = 0) -> bool:
        """Whether this replica sees a whole checkpoint of a step, within so many seconds."""
        end = time.monotonic() + seconds
        while not (self._checkpoint_of(step) / _WHOLE).is_file():
            if time.monotonic() >= end:
                return False
            time.sleep(0.1)
        return True
