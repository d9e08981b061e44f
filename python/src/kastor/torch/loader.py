"""Loader of this replica's share of each step."""

from __future__ import annotations

import ctypes
import random
import signal
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from kastor.errors import UsageError
from kastor.protocol import BatchPlan, Doing, Phase
from kastor.sampler import ElasticSampler, Order, Take, epoch_key

if TYPE_CHECKING:
    from kastor.torch.job import Job
    from kastor.torch.training import Training

# What scripts give a DataLoader, and is so here whatever they say: each example is trained on once, workers stay.
_OF_NO_EFFECT = ("drop_last", "persistent_workers")
_PR_SET_PDEATHSIG = 1
_OF_NUMPY = 1 << 32


class _Feed:
    """Sequence of index lists from a place on, without end, for the workers of a DataLoader."""

    def __init__(self) -> None:
        self.source: Callable[[], Iterator[list[int]]] = lambda: iter(())

    def __iter__(self) -> Iterator[list[int]]:
        return self.source()


class _WorkerInit:
    """Start of a worker process, which ends with its replica: else it would keep the replica's connections open.

    It draws random numbers of its own: where a script seeds all replicas alike, their workers had the same seeds.
    """

    def __init__(self, own: Callable[[int], None] | None, pod: str | None) -> None:
        self._own, self._pod = own, pod

    def __call__(self, worker: int) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if self._pod is not None:
            _seed_random_numbers(epoch_key(torch.initial_seed(), zlib.crc32(self._pod.encode())))
        if self._own is not None:
            self._own(worker)


class ElasticLoader:
    """Loader that yields this replica's share of each step, ``accumulation_steps + 1`` batches a step.

    Between two turns of the loop over it, this replica joins generations, leaves, takes a broken step
    again, and ends where it is told so by ``SystemExit(0)``. Each batch must be trained on before the
    next one is asked for. Made by :meth:`kastor.torch.Job.loader`.
    """

    def __init__(self, job: Job, dataset: Any, initial_batch: int, order: Order, options: dict[str, Any]) -> None:
        options = {name: value for name, value in options.items() if name not in _OF_NO_EFFECT}
        if order.examples < initial_batch:
            raise UsageError(
                f"An epoch has {order.examples} examples, fewer than one batch of {initial_batch}. Lower"
                " goodput.batchSize.initial and batch_size, or give more data."
            )
        self.dataset = dataset
        self.batch_size = initial_batch
        self._job, self._order = job, order
        self._feed = _Feed()
        self._expected: tuple[Any, ...] | None = None
        self._batches: Iterator[Any] = iter(())
        workers = int(options.get("num_workers", 0))
        if workers:
            pod = job._config.pod if job._config is not None else None
            options = {**options, "worker_init_fn": _WorkerInit(options.get("worker_init_fn"), pod)}
        self._loader: DataLoader[Any] = DataLoader(
            dataset, batch_sampler=self._feed, persistent_workers=workers > 0, **options
        )

    def __len__(self) -> int:
        """Steps of an epoch at the initial batch."""
        return -(-self._order.examples // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        """Turns until the epoch, or without ``job.epochs`` the declared work, is done."""
        training = self._job._begin_loop(self)
        training.read_from(self._order, self.batch_size)
        training.looping, training.left = True, False
        try:
            yield from self._turns(training)
        except GeneratorExit:
            # By a break, or by an error of the script: only after a break does the script call the job again.
            training.left = True
            raise
        training.end_loop()

    def _turns(self, training: Training) -> Iterator[Any]:
        if training.rehearsing:
            yield from self._rehearse()
        members = training.members
        while True:
            group = members.require_group()
            if group.rank > 0 and not self._job._seeded_apart:
                self._job._seeded_apart = True
                _seed_random_numbers(epoch_key(epoch_key(training.seed, members.membership.generation), group.rank))
            if training.epoch_done():
                break
            training.begin_step()
            for pass_number in range(members.plan.passes):
                if members.group is None:
                    # The group broke in a sum of the script between two passes.
                    training.give_up_step()
                    break
                take = training.begin_pass(pass_number)
                assert members.sampler is not None
                batch = self._fetch(members.sampler, training.counters.cursor, group.size, group.rank, pass_number)
                yield from self._turn(batch, take)
            if not training.step.called:
                raise UsageError(
                    "The loop went round without optimizer.step(). Call it once for each batch that the loader gives:"
                    " it does nothing where gradients are still accumulated. Where the script adds up passes itself,"
                    " multiply batch_size by their number, and set that to 1."
                )
            self._job._schedulers.require_unused()

    def _turn(self, batch: Any, take: Take | None) -> Iterator[Any]:
        patches = self._job._patches
        assert patches is not None
        patches.turn(True)
        try:
            yield batch
        finally:
            patches.turn(False)
        if not self._job._training.passed():
            first = take.first_position if take is not None else 0
            raise UsageError(
                f"The loop asked for another batch before loss.backward() on the one at position {first}. Each batch"
                " must be trained on before the next: switch off prefetching, and do not skip batches."
            )
        self._job._training.end_turn()

    def _fetch(self, sampler: ElasticSampler, cursor: int, replicas: int, rank: int, pass_number: int) -> Any:
        plan = self._job._training.members.plan
        place = (sampler, plan, replicas, rank, cursor, pass_number)
        if self._expected != place:
            # Another plan: what was fetched ahead is dropped, the workers stay.
            self._feed.source = lambda: _shares(sampler, plan, replicas, rank, cursor, pass_number)
            self._batches = iter(self._loader)
        self._expected = (sampler, plan, replicas, rank, *_after(plan, replicas, cursor, pass_number))
        return next(self._batches)

    def _rehearse(self) -> Iterator[Any]:
        """Turns whose results are thrown away: kernels are warm and graphs compiled before anybody waits for us."""
        training, spec = self._job._training, self._job._spec
        sizes = [min(spec.first_atomic_batch, len(self.dataset))]
        if training.pod is not None:
            training.pod.membership.doing = Doing.COMPILE
        training.statistics.remember()
        with _same_random_numbers(self._job.device):
            while sizes:
                size = sizes.pop()
                self._feed.source = lambda n=size: iter([list(range(n))])  # type: ignore[misc]
                training.begin_rehearsal(size)
                yield from self._turn(next(iter(self._loader)), None)
                if not training.step.called:
                    raise UsageError("The loop went round without optimizer.step(). Call it once for each batch.")
                if _compiles() and not self._job._rehearsed:
                    # A second size makes a compiled graph one of any size.
                    sizes = [size - 1 if size > 2 else size + 1]
                self._job._rehearsed = True
        training.end_rehearsal()
        self._expected = None
        if training.pod is not None:
            training.pod.membership.doing = Doing.TRAIN
            training.pod.membership.moved(0, Phase.READY)


@contextmanager
def _same_random_numbers(device: torch.device) -> Iterator[None]:
    """Context after which the script draws the random numbers that it would have drawn without it."""
    python, numpy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        yield
    random.setstate(python)
    np.random.set_state(numpy)


def _seed_random_numbers(key: int) -> None:
    """Sets the global generators to random numbers of a key in [0, 2^64).

    Scripts set them to the same seed on all replicas, which then drew the same noise for other examples.
    """
    torch.manual_seed(key)
    random.seed(key)
    np.random.seed(key % _OF_NUMPY)


def _shares(
    sampler: ElasticSampler, plan: BatchPlan, replicas: int, rank: int, cursor: int, pass_number: int
) -> Iterator[list[int]]:
    while True:
        yield sampler.take(cursor, plan, replicas, rank, pass_number).examples.tolist()
        cursor, pass_number = _after(plan, replicas, cursor, pass_number)


def _after(plan: BatchPlan, replicas: int, cursor: int, pass_number: int) -> tuple[int, int]:
    if pass_number + 1 < plan.passes:
        return cursor, pass_number + 1
    return cursor + plan.global_batch_size(replicas), 0


def _compiles() -> bool:
    """Whether this process compiled a graph."""
    utilities: Any = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utilities, "counters", {})
    return bool(counters) and counters["stats"]["unique_graphs"] > 0
