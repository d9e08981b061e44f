"""Job of a training script."""

from __future__ import annotations

import atexit
import logging
import math
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import torch
from torch.utils.data import IterableDataset, Subset

from kastor.config import Config, JobSpec
from kastor.ending import EXIT_FAILED, exit_status, write_outcome
from kastor.errors import PERMANENT, UsageError
from kastor.protocol import Doing, Outcome, OutcomeKind
from kastor.scalars import LOSS, ScalarFile, check_name
from kastor.torch.alternating import NO_ACCUMULATION, AlternatingTraining
from kastor.torch.checks import SCHEDULERS, UnregisteredSchedulers, require_trainable
from kastor.torch.drift import Drift
from kastor.torch.loader import ElasticLoader
from kastor.torch.order import order_by
from kastor.torch.patches import Patches
from kastor.torch.pod import Pod
from kastor.torch.state import Stateful
from kastor.torch.training import Training

log = logging.getLogger("kastor")

P = ParamSpec("P")
R = TypeVar("R")

_RESERVED = ("model", "optimizer", "scheduler", "scaler")
_TRACE_CHARS = 2000


def out_of_memory(error: BaseException) -> bool:
    """Whether memory of a device, or of the host, ran out: PyTorch has no type of its own for the latter."""
    on_cpu = isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error)
    return on_cpu or isinstance(error, (torch.OutOfMemoryError, MemoryError))


def _no_memory(examples: int | None) -> str:
    if examples is None:
        return "Memory ran out outside of a step: not the batch but the data or the model is too large for it."
    return (
        f"Memory ran out at {examples} examples a pass: the next try has fewer. Set goodput.batchSize.perDevice.max to"
        " what fits, to begin with it."
    )


def _listed(given: Any) -> list[Any]:
    """Things that were given as a list, as one, or not at all."""
    return list(given) if isinstance(given, (list, tuple)) else [] if given is None else [given]


def _named(name: str, parts: list[Any]) -> dict[str, Stateful]:
    """Parts by a name; where there are several, with their places from 1 on."""
    return {name: parts[0]} if len(parts) == 1 else {f"{name}{n}": part for n, part in enumerate(parts, start=1)}


def _number(name: str, value: Any) -> float:
    try:
        return float(value.detach() if isinstance(value, torch.Tensor) else value)
    except (TypeError, ValueError, RuntimeError) as e:
        kind = f"a tensor of shape {list(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)
        raise UsageError(f"log() was given {kind} as {name!r}, and takes one number of a name.") from e


class Job:
    """Job that a script takes part in, as one replica of it; made by :func:`kastor.torch.init`.

    The script's thread uses it. Where no operator is named, it is a job of this process alone.
    """

    def __init__(
        self,
        config: Config | None,
        seed: int,
        device: torch.device,
        scalar_file: ScalarFile | None = None,
        drift: Drift = Drift.REPAIR,
    ) -> None:
        self.device = device
        self._scalar_file = scalar_file
        self._config = config
        self._spec = config.spec if config else JobSpec(1)
        self._pod = Pod(config) if config else None
        self._drift = drift
        self._training = Training(self._pod, seed, device, drift)
        self._training.members.on_end = self._ended
        self._model: torch.nn.Module | None = None
        self._patches: Patches | None = None
        self._schedulers: UnregisteredSchedulers
        self._loader: ElasticLoader | None = None
        self._rehearsed = self._looped = self._seeded_apart = False
        self._outcome: Outcome | None = None
        if self._pod is not None:
            self._pod.start()
            atexit.register(self._at_exit)

    # --- what is registered ---

    def prepare(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer | Sequence[torch.optim.Optimizer],
        scheduler: Any | None = None,
        scaler: Any | None = None,
        **others: Stateful,
    ) -> None:
        """Registers what the training changes; call it once, before the first step.

        The objects stay the script's own: no wrapper, so keys of ``state_dict`` and ``torch.compile`` are
        as they were. ``step`` and ``zero_grad`` of these instances are replaced.

        Args:
            model: on this replica's device; its loss must be a mean over the examples of a batch.
            optimizer: its rates are those at the initial batch; a list where the script steps several.
            scheduler: written in steps of the initial batch, where it is stepped in the loop over batches; a list of
                several.
            scaler: ``torch.amp.GradScaler``.
            others: further objects with ``state_dict`` and ``load_state_dict``, such as a second scheduler or counters
                of the script.

        Raises:
            UsageError: if the objects cannot be trained elastically.
        """
        if self._patches is not None:
            raise UsageError(
                "prepare() was called before. Call it once: put several models into one torch.nn.ModuleDict, and give"
                " their optimizers as a list."
            )
        optimizers, schedulers = _listed(optimizer), _listed(scheduler)
        for each in optimizers or [None]:
            if not isinstance(each, torch.optim.Optimizer):
                raise UsageError(f"prepare() takes a torch.optim.Optimizer but was given a {type(each).__name__}.")
            if isinstance(each, torch.optim.LBFGS):
                raise UsageError(
                    "LBFGS takes several passes a step, which replicas cannot share. Use another optimizer."
                )
            if len(each.state) > 0:
                raise UsageError(
                    "prepare() was called after a step of the optimizer. Call it before the first step, so that no"
                    " replica has trained alone."
                )
            require_trainable(model, each)
        parts: dict[str, Stateful] = {"model": model, **_named("optimizer", optimizers)}
        parts |= _named("scheduler", schedulers)
        if scaler is not None:
            parts["scaler"] = scaler
        wrong = [name for name in others if name in _RESERVED or not hasattr(others[name], "load_state_dict")]
        if wrong:
            raise UsageError(f"prepare() cannot register {', '.join(wrong)}: there is no load_state_dict().")
        for name, each in others.items():
            if isinstance(each, (torch.optim.Optimizer, torch.amp.GradScaler)):
                raise UsageError(
                    f"prepare() was given {name}, a {type(each).__name__}, by a name, and would not see its steps. Give"
                    " several optimizers as a list, prepare(model, [first, second]), and a scaler as scaler=."
                )
        taken = sorted(parts.keys() & others.keys())
        if taken:
            raise UsageError(f"prepare() was given two things by the name {', '.join(taken)}. Give one another name.")
        self._schedulers = UnregisteredSchedulers(optimizers, [*parts.values(), *others.values()])
        if len(optimizers) > 1:
            self._alternate().prepare_all(model, optimizers, {**parts, **others})
        else:
            self._training.prepare(model, optimizers[0], {**parts, **others})
        # The script steps those that have a name as well.
        schedulers += [each for each in others.values() if isinstance(each, SCHEDULERS) and each not in schedulers]
        self._patches = Patches(self._training, optimizers, schedulers, scaler)
        self._model = model

    def _alternate(self) -> AlternatingTraining:
        """Trains by several optimizers from here on."""
        if self._config is not None and self._spec.accumulates:
            raise UsageError(NO_ACCUMULATION)
        before = self._training
        training = AlternatingTraining(self._pod, before.seed, self.device, self._drift)
        training.declared_epochs, training.ends_epochs = before.declared_epochs, before.ends_epochs
        training.members.on_end = self._ended
        self._training = training
        return training

    def loader(
        self, dataset: Any, batch_size: int | None = None, shuffle: bool = True, sampler: Any = None, **options: Any
    ) -> ElasticLoader:
        """Loader of this replica's share of each step.

        Args:
            dataset: with ``__len__`` and ``__getitem__``, or a :class:`kastor.torch.Stream`.
            batch_size: initial batch M0 over all replicas; the job's where there is one and it is absent.
            shuffle: whether each epoch has an order of its own, which depends on the seed alone.
            sampler: instead of ``shuffle``: gives the indices of an epoch, such as a ``WeightedRandomSampler``,
                from random numbers that are the same on all replicas. Its length is that of an epoch.
            options: further ones of ``torch.utils.data.DataLoader``, such as ``num_workers``.

        Raises:
            UsageError: if the batch is not the job's, or larger than the data set, or the data set or the
                sampler has no length.
        """
        if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
            raise UsageError(
                "The data set has no length: a loader needs one with __len__ and __getitem__, as each example must be"
                " trained on once whatever the number of replicas. Of one that can only be read from its beginning on,"
                " make a kastor.torch.Stream with the lengths of its shards."
            )
        if "batch_sampler" in options:
            raise UsageError(
                "loader() does not take batch_sampler: the size of a batch follows the goodput. Give the sampler of"
                " single examples that it is made of as sampler."
            )
        if self._config is None:
            if batch_size is None:
                raise UsageError("loader() needs batch_size where the script runs alone.")
            self._spec = JobSpec(batch_size)
        elif batch_size not in (None, self._spec.initial_batch):
            raise UsageError(
                f"loader() was given batch_size={batch_size}, but goodput.batchSize.initial of the job is"
                f" {self._spec.initial_batch}. Make them equal, or leave batch_size out."
            )
        order = order_by(sampler, dataset, shuffle, self._training.seed)
        return ElasticLoader(self, dataset, self._spec.initial_batch, order, options)

    def batches(
        self, dataset: Any, batch_size: int | None = None, epochs: float | None = None, **options: Any
    ) -> Iterator[Any]:
        """Turns of a loader in one loop, until the declared work or ``epochs`` statistical epochs are done."""
        self._training.declared_epochs = epochs
        return iter(self.loader(dataset, batch_size, **options))

    def epochs(self, number: float) -> Iterator[int]:
        """Statistical epochs: each is N / M0 scale-invariant steps, for N examples and initial batch M0.

        Yields the epoch's number. An epoch that is left by ``break`` counts as done, and the next one goes on with
        the examples that it left. A replica that joins begins with 0, as it learns in its first loop over
        batches only where the others are: :attr:`epoch` is right from there on. Of 1.5 epochs the second one is half.
        """
        if not number > 0:
            raise UsageError(f"epochs() needs a number above 0 but was given {number}.")
        self._training.declared_epochs, self._training.ends_epochs = number, True
        while True:
            yield self.epoch
            if self._training.members.state is None:
                raise UsageError(
                    "job.epochs() went round without a loop over a loader of the job. Write `for batch in loader` in"
                    " it, with the loader that job.loader() gave."
                )
            # A generator that the script still holds is not closed by a break.
            self._leave(self._training.looping)
            if self._training.done or self.epoch + 1 >= number:
                return
            self._training.counters.epoch += 1

    def _leave(self, left: bool | None = None) -> None:
        """Ends a loop over batches that the script left by ``break``."""
        if not (self._training.left if left is None else left):
            return
        if self.rehearsing:
            raise UsageError(
                "The loop over batches was left at its first turn, which is a rehearsal. Leave it by a step:"
                " `if not job.rehearsing and ...: break`."
            )
        self._training.leave_loop()

    def _begin_loop(self, loader: ElasticLoader) -> Training:
        if self._patches is None:
            raise UsageError("The loop began before prepare(). Call job.prepare(model, optimizer) first.")
        if self._loader not in (None, loader):
            raise UsageError("A second loader is iterated. Train from one loader; evaluate from job.sharded(data).")
        if self._looped and not self._training.ends_epochs:
            raise UsageError(
                "The loader was iterated a second time without job.epochs(). Write `for epoch in job.epochs(n)`, so"
                " that a replica that joins begins where the others are."
            )
        self._leave()
        self._schedulers.look()
        self._loader, self._looped = loader, True
        return self._training

    # --- what a script asks ---

    @property
    def rank(self) -> int:
        """Rank of this replica in its generation."""
        return self._training.members.rank

    @property
    def writes(self) -> bool:
        """Whether this replica writes what is written once: rank 0 does, and all do where one has died just now."""
        return self.rank == 0 or (self._outcome is None and self._training.members.group is None)

    @property
    def replicas(self) -> int:
        """Number of replicas of the generation."""
        return self._training.members.size

    @property
    def generation(self) -> int:
        """Number of the generation; 0 before the first, and alone."""
        return self._training.members.membership.generation

    @property
    def batch_size(self) -> int:
        """Global batch in force, in examples."""
        return self._training.members.plan.global_batch_size(self.replicas)

    @property
    def atomic_batch_size(self) -> int:
        """Examples of one pass of this replica."""
        return self._training.members.plan.atomic_batch_size

    @property
    def step(self) -> int:
        """Optimizer steps applied."""
        return self._training.counters.step

    @property
    def epoch(self) -> int:
        """Statistical epoch in which the members are."""
        return self._training.counters.epoch

    @property
    def progress(self) -> float:
        """Done share of the declared work, in [0, 1]; 0 before the first loop."""
        done = self._training.counters.done
        return min(1.0, done / self._training.members.total_steps)

    @property
    def scale_invariant_steps(self) -> float:
        """Progress in steps of the initial batch."""
        return self._training.counters.scale_invariant_steps

    @property
    def epoch_progress(self) -> float:
        """Done share of the statistical epoch, in [0, 1]; 0 before the first loop."""
        return self._training.epoch_progress()

    @property
    def rehearsing(self) -> bool:
        """Whether this turn is a rehearsal, whose results are thrown away."""
        return self._training.rehearsing

    def metrics(self) -> dict[str, float]:
        """Figures of the training, for a logger of the script's."""
        members = self._training.members
        stats = members.state.noise.stats() if members.state else None
        found = {
            "step": float(self.step),
            "scale_invariant_steps": self._training.counters.scale_invariant_steps,
            "replicas": float(self.replicas),
            "batch_size": float(self.batch_size),
        }
        if members.learning_rate is not None:
            found["learning_rate"] = members.learning_rate
        if stats is not None and stats.squared_norm > 0:
            found["gradient_noise_scale"] = stats.initial_batch * stats.variance / stats.squared_norm
            found["gain"] = stats.gain(self.batch_size)
        return found

    # --- what a script says ---

    def log(self, **scalars: float | torch.Tensor) -> None:
        """Logs numbers: ``job.log(loss=loss, accuracy=accuracy)``, ``job.log(**{"val/loss": loss})``.

        Of ``loss`` the mean over all replicas is reported, of the others the mean of what rank 0 logs, about once a
        second: give :meth:`average` what is to be the mean over all. ``kastor metrics`` shows them. In a rehearsal
        nothing is logged, and a value that is not finite is left out.

        Raises:
            UsageError: if a name is not allowed, or a value is not one number.
        """
        for name in scalars:
            check_name(name)
        if self.rehearsing:
            return
        values = {name: _number(name, value) for name, value in scalars.items()}
        if self._scalar_file is not None and self.rank == 0:
            self._scalar_file.write(self.step, values)
        loss = values.pop(LOSS, None)
        if loss is not None:
            self._training.logged(loss)
        if values and self._pod is not None and self.rank == 0:
            self._pod.telemetry.logged(values)

    def save_soon(self) -> None:
        """Asks for a checkpoint after the step in progress."""
        if self._pod is not None:
            self._pod.save_soon = True

    def rank0(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Result of a function that is called on rank 0 alone, None on the others and in a rehearsal."""
        return function(*args, **kwargs) if self.rank == 0 and not self.rehearsing else None

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Context of an evaluation, for which the operator has patience."""
        self._leave()
        if self._pod is None:
            yield
        else:
            with self._pod.membership.while_doing(Doing.EVALUATE):
                yield

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Context in which the script saves something of its own, for which the operator has patience."""
        if self._pod is None:
            yield
        else:
            with self._pod.membership.while_doing(Doing.SAVE):
                yield

    def sharded(self, dataset: Any) -> Subset[Any]:
        """Share of a data set that this replica evaluates."""
        self._leave()
        return Subset(dataset, range(self.rank, len(dataset), self.replicas))

    def average(self, value: float | torch.Tensor, weight: float = 1.0) -> float:
        """Mean of a number over the replicas, by weight; all of them must call it, at the same place.

        A value of weight 0 counts as absent, whatever it is: the mean over no examples is often NaN.
        """
        total, weights = self._sums(float(value) * float(weight) if weight else 0.0, float(weight))
        return total / weights if weights else math.nan

    def sum(self, value: float | torch.Tensor) -> float:
        """Sum of a number over the replicas; all of them must call it, at the same place."""
        return self._sums(float(value))[0]

    def _sums(self, *values: float) -> list[float]:
        self._leave()
        return [math.fsum(column) for column in zip(*self._training.members.rows(values), strict=True)]

    def gather(self, tensor: torch.Tensor) -> torch.Tensor:
        """Rows of a tensor of all replicas, those of rank 0 first; all of them must call it, at the same place.

        For metrics that are no means, such as an area under a curve. Of shares by :meth:`sharded` the row i of
        rank r is that of example r + i * replicas.

        Args:
            tensor: shape [n, ...]; n may differ from replica to replica, all else may not.

        Raises:
            UsageError: if it is no such tensor.
        """
        if not isinstance(tensor, torch.Tensor) or tensor.dim() == 0:
            raise UsageError("gather() takes a tensor with a first dimension, a row for each example.")
        self._leave()
        return self._training.members.gather(tensor)

    def of_rank0(self, values: Mapping[str, float]) -> dict[str, float]:
        """Numbers by name as rank 0 has them; all replicas must call it, at the same place, with the same names.

        For what decisions hang on, as results of the same evaluation may differ in the last digit from one kind of
        device to another.
        """
        self._leave()
        rows = [self._training.members.rows([value])[0][0] for value in values.values()]
        return dict(zip(values, rows, strict=True))

    def is_best(self, least: bool = False, **metric: float | torch.Tensor) -> bool:
        """Whether a metric is better than ever in this job; all replicas must call it, and get the same answer.

        ``if job.is_best(accuracy=accuracy): job.export("best.pt")``. What was best is part of the state, so that a
        replica that joins knows it, and a checkpoint has it.

        Args:
            least: whether less is better, as of a loss.
            metric: one number by its name; that of rank 0 decides.
        """
        if len(metric) != 1:
            raise UsageError(f"is_best() takes one metric by its name but was given {len(metric)}.")
        if self._training.members.state is None:
            raise UsageError("is_best() was called before the loop over batches. Call it in the loop or after it.")
        if self.rehearsing:
            return False
        ((name, value),) = self.of_rank0({name: _number(name, value) for name, value in metric.items()}).items()
        best = self._training.counters.is_best(name, value, least)
        if best:
            # Else a checkpoint from before would take a worse one for the best.
            self.save_soon()
        return best

    def together(self) -> bool:
        """Waits until all replicas are here; whether they came, and none failed meanwhile."""
        self._leave()
        members = self._training.members
        members.rows([])
        return members.group is not None

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the model's plain ``state_dict`` on rank 0, for ``torch.load``; a reader sees all or nothing.

        Where rank 0 has died since the last step, each of the others writes it. In a rehearsal nothing is written.
        """
        if self._model is None:
            raise UsageError("export() was called before prepare(). Call it once the model is trained.")
        if (self.rehearsing and self._looped) or not self.writes:
            return
        target = Path(path)
        handle, name = tempfile.mkstemp(prefix=target.name, suffix=".tmp", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                torch.save(self._model.state_dict(), file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def finish(self, **metrics: float | torch.Tensor) -> None:
        """Saves and reports that the work is done; nobody goes before that is safe.

        Args:
            metrics: of held-out data; the first is the job's metric, all are in its message.
        """
        if self._outcome is not None:
            return
        if self._training.members.state is None:
            raise UsageError("finish() was called before the loop over batches. Call it after the last epoch.")
        self._leave()
        values = {name: float(value) for name, value in metrics.items()}
        members = self._training.members
        saved = self._training.counters.step
        is_rank0 = members.at_the_end(members.save) if self._pod is not None else True
        text = "".join(f", {name} {value:.6g}" for name, value in values.items())
        outcome = members.outcome(
            OutcomeKind.COMPLETED, f"completed {saved} steps{text}", next(iter(values.items()), None)
        )
        if is_rank0:
            log.info("%s, %d examples lost or repeated", outcome.message, outcome.lost_or_repeated_examples)
            if self._pod is not None:
                self._pod.telemetry.finish(outcome)
        members.leave_group()
        self._ended(outcome)

    # --- ends ---

    def _ended(self, outcome: Outcome) -> None:
        """Tells the operator's machine how this replica ended."""
        self._outcome = outcome
        if self._pod is None or self._config is None:
            return
        log.info("%s: %s: %s", self._config.job_name, outcome.kind.value, outcome.message)
        try:
            write_outcome(self._config.termination_log, outcome, self._config.protocol)
        except OSError as e:
            log.error("%s: cannot write the termination message: %s", self._config.job_name, e)
        self._pod.close()

    def _at_exit(self) -> None:
        if self._outcome is not None:
            return
        # The interpreter notes an error that nobody caught before it comes here.
        error: BaseException | None = getattr(sys, "last_value", None)
        if error is not None:
            permanent = isinstance(error, PERMANENT)
            kind = OutcomeKind.FAILED_PERMANENTLY if permanent else OutcomeKind.FAILED
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            message, at = str(error) if permanent else text[-_TRACE_CHARS:], None
            if out_of_memory(error):
                at = self._training.pass_examples or None
                message = f"{_no_memory(at)}\n{text[-_TRACE_CHARS // 2 :]}"
                log.error("%s", _no_memory(at))
            self._fail(Outcome(kind, message, out_of_memory_at=at))
        elif self._training.done:
            self.finish()
        else:
            total = self._training.members.total_steps
            done = self._training.counters.done
            self._fail(
                Outcome(
                    OutcomeKind.FAILED,
                    f"The script ended at {done:.0f} of {total:.0f} scale-invariant steps. Call job.finish() when its"
                    " work is done.",
                )
            )

    def _fail(self, outcome: Outcome) -> None:
        self._training.members.leave_group()
        self._ended(outcome)
        sys.stdout.flush()
        sys.stderr.flush()
        # Else a script that simply ended would exit with 0, which says that all is well.
        os._exit(exit_status(outcome) or EXIT_FAILED)
