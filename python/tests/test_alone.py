"""A script without an operator: it trains as plain PyTorch does, and breaks the same rules with the same words."""

from __future__ import annotations

import json
import math
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")
F: Any = torch.nn.functional


import kastor.torch as kastor  # noqa: E402
from kastor.errors import UsageError  # noqa: E402
from kastor.noise import JointNoise  # noqa: E402
from kastor.protocol import BatchPlan  # noqa: E402
from kastor.sampler import ElasticSampler, order_of  # noqa: E402
from kastor.torch.loader import _WorkerInit  # noqa: E402
from kastor.torch.order import order_by  # noqa: E402
from kastor.torch.rates import rule_for  # noqa: E402


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    monkeypatch.delenv("KASTOR_OPERATOR_URL", raising=False)


class Data(torch.utils.data.Dataset):  # type: ignore[misc]
    def __init__(self, n: int = 100) -> None:
        g = torch.Generator().manual_seed(3)
        self.x, self.y = torch.randn(n, 4, generator=g), torch.randint(0, 3, (n,), generator=g)

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, i: int) -> Any:
        return self.x[i], self.y[i]


def objects() -> tuple[Any, Any, Any]:
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return model, optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40)


def turn(model: Any, optimizer: Any, scheduler: Any, x: Any, y: Any) -> Any:
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    scheduler.step()
    return loss


@pytest.mark.never_retried
def test_trains_as_plain_pytorch_to_the_bit() -> None:
    data = Data()
    job = kastor.init(seed=5)
    model, optimizer, scheduler = objects()
    job.prepare(model, optimizer, scheduler)
    loader = job.loader(data, batch_size=20)
    epochs = []
    for epoch in job.epochs(3):
        epochs.append((epoch, job.step))
        for x, y in loader:
            job.log(loss=turn(model, optimizer, scheduler, x, y))
        with job.evaluating():
            assert job.average(2.0, weight=3) == 2.0
            assert len(job.sharded(data)) == 100
    job.finish(accuracy=1.0)
    assert epochs == [(0, 0), (1, 5), (2, 10)]
    assert (job.step, job.rank, job.replicas, job.batch_size, len(loader)) == (15, 0, 1, 20, 5)
    assert job.progress == 1.0
    assert job.rank0(lambda x: x + 1, 1) == 2

    plain, optimizer, scheduler = objects()
    sampler = ElasticSampler(order_of(100, seed=5))
    for step in range(15):
        i = sampler.take(20 * step, BatchPlan(20), 1, 0, 0).examples
        turn(plain, optimizer, scheduler, data.x[i], data.y[i])
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), plain.state_dict().values(), strict=True))


@pytest.mark.never_retried
def test_a_step_whose_parameters_are_all_replaced_before_its_pass_is_taken_again() -> None:
    model, optimizer, _ = objects()
    job = kastor.init()
    job.prepare(model, optimizer)
    steps: list[tuple[int, bool]] = []
    for x, y in job.loader(Data(), batch_size=20):
        if len(steps) == 2:
            model[0], model[1], model[2] = torch.nn.Linear(4, 8), torch.nn.Identity(), torch.nn.Linear(8, 3)
            optimizer.param_groups[0]["params"] = list(model.parameters())
        before = [p.clone() for p in model.parameters()]
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        steps.append((job.step, any(not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))))
    assert steps == [(1, True), (2, True), (2, False), (3, True), (4, True), (5, True)]
    job.finish()


@pytest.mark.parametrize("several", [False, True])
def test_an_epoch_that_is_left_counts_as_done(several: bool) -> None:
    data, (model, optimizer, scheduler) = Data(), objects()
    job = kastor.init()
    optimizers = [optimizer]
    if several:
        extra = torch.nn.Linear(2, 2)
        optimizers.append(torch.optim.SGD(extra.parameters(), lr=0.1))
        job.prepare(torch.nn.ModuleList([model, extra]), optimizers, scheduler)
    else:
        job.prepare(model, optimizer, scheduler)
    loader = job.loader(data, batch_size=20)
    seen, done = [], []
    for epoch in job.epochs(3):
        for x, y in loader:
            turn(model, optimizer, scheduler, x, y)
            seen.append(x)
            if epoch < 2 and len(seen) % 2 == 0:
                break
        with job.evaluating():
            done.append((job.step, job.progress))
    job.finish()
    assert done == [(2, 1 / 3), (4, 2 / 3), (9, 1.0)]
    sampler = ElasticSampler(order_of(100))
    assert torch.equal(torch.cat(seen), data.x[sampler.take(0, BatchPlan(180), 1, 0, 0).examples])
    assert job._outcome is not None
    assert job._outcome.lost_or_repeated_examples == 0
    assert scheduler.last_epoch == 9


def test_objects_stay_as_they_are(tmp_path: Path) -> None:
    model, optimizer, scheduler = objects()
    keys = list(model.state_dict())
    untouched = torch.optim.SGD(model.parameters(), lr=1.0).step
    job = kastor.init()
    job.prepare(model, optimizer, scheduler)
    assert list(model.state_dict()) == keys
    assert isinstance(scheduler, torch.optim.lr_scheduler.CosineAnnealingLR)
    for each in (optimizer, scheduler):
        assert pickle.loads(pickle.dumps(each.state_dict())) == each.state_dict()
    assert torch.optim.SGD(model.parameters(), lr=1.0).step.__func__ is untouched.__func__
    for x, y in job.loader(Data(), batch_size=50):
        turn(model, optimizer, scheduler, x, y)
    job.export(tmp_path / "model.pt")
    assert [p.name for p in tmp_path.iterdir()] == ["model.pt"]
    read = torch.load(tmp_path / "model.pt", weights_only=True)
    assert all(torch.equal(read[k], v) for k, v in model.state_dict().items())


@pytest.mark.never_retried
def test_workers_read_the_same_examples() -> None:
    found = []
    for workers in (0, 2):
        model, optimizer, scheduler = objects()
        job = kastor.init()
        job.prepare(model, optimizer, scheduler)
        seen = []
        for epoch in job.epochs(2):
            for x, y in job.loader(Data(), batch_size=30, num_workers=workers) if epoch == 9 else _one(job, workers):
                seen.append(x.clone())
                turn(model, optimizer, scheduler, x, y)
        found.append(torch.cat(seen))
    assert torch.equal(*found)


_loaders: dict[Any, Any] = {}


def _one(job: Any, workers: int) -> Any:
    return _loaders.setdefault(job, job.loader(Data(), batch_size=30, num_workers=workers))


class Noise(torch.utils.data.Dataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return 4

    def __getitem__(self, i: int) -> list[float]:
        return [torch.rand(()).item(), random.random(), float(np.random.random())]


def test_workers_of_each_replica_draw_other_random_numbers() -> None:
    def drawn(pod: str | None) -> list[list[float]]:
        torch.manual_seed(1)
        loader = torch.utils.data.DataLoader(
            Noise(), batch_size=None, num_workers=1, worker_init_fn=_WorkerInit(None, pod), collate_fn=list
        )
        return [*loader]

    alone = drawn(None)
    first, second = drawn("job-0"), drawn("job-1")
    assert first == drawn("job-0")
    for row in zip(alone, first, second, strict=True):
        assert all(len(set(same)) == 3 for same in zip(*row, strict=True))


def test_samplers_keep_their_meaning() -> None:
    data = Data()
    utils = torch.utils.data
    job = kastor.init(seed=5)
    seed = job._training.seed

    def orders(sampler: Any) -> list[list[int]]:
        order = order_by(sampler, data, True, seed)
        again = order_by(sampler, data, True, seed)
        found = [order.between(epoch, 0, order.examples).tolist() for epoch in range(3)]
        # The same in another process, which begins in the middle.
        torch.rand(3)
        assert [again.between(epoch, 0, order.examples).tolist() for epoch in (2, 0)] == [found[2], found[0]]
        return found

    shuffled = [order_of(100, seed).between(epoch, 0, 100).tolist() for epoch in range(3)]
    assert orders(None) == orders(utils.RandomSampler(data)) == shuffled
    assert orders(utils.DistributedSampler(data, num_replicas=4, rank=1)) == shuffled
    assert orders(Repeated(data, num_replicas=1, rank=0)) == [[7] * 100] * 3
    whole = [list(range(100))] * 3
    assert orders(utils.DistributedSampler(data, num_replicas=4, rank=1, shuffle=False)) == whole
    assert orders(utils.SequentialSampler(data)) == whole
    chosen = range(20, 60)
    for own in (None, torch.Generator().manual_seed(3)):
        found = orders(utils.SubsetRandomSampler(chosen, generator=own))
        assert [sorted(order) for order in found] == [list(chosen)] * 3
        assert found[0] != found[1]
        found = orders(utils.RandomSampler(data, replacement=True, num_samples=300, generator=own))
        assert [len(order) for order in found] == [300] * 3
        assert len(set(found[0])) < 100
    own = torch.Generator().manual_seed(3)
    before = torch.get_rng_state(), random.getstate(), str(np.random.get_state()), own.get_state()
    assert len(orders(utils.WeightedRandomSampler([0.0] * 99 + [1.0], 7, generator=own))[0]) == 7
    assert torch.equal(own.get_state(), before[3])
    assert (random.getstate(), str(np.random.get_state())) == before[1:3]

    model, optimizer, scheduler = objects()
    job.prepare(model, optimizer, scheduler)
    loader = job.loader(data, batch_size=10, sampler=utils.SubsetRandomSampler(chosen))
    seen = [x for _ in job.epochs(2) for x, y in loader if turn(model, optimizer, scheduler, x, y) is not None]
    assert (len(loader), len(seen)) == (4, 8)
    assert torch.equal(torch.cat(seen[:4]).sort(0).values, data.x[20:60].sort(0).values)


def test_another_batch_changes_rate_and_schedule() -> None:
    model, optimizer, scheduler = objects()
    job = kastor.init()
    job.prepare(model, optimizer, scheduler)
    training = job._training
    training._scalings = ["Linear"]
    loader = iter(job.loader(Data(), batch_size=10))
    turn(model, optimizer, scheduler, *next(loader))
    training.members.plan = BatchPlan(10, 2)
    rates, sizes, before = [], [], [p.clone() for p in model.parameters()]
    for _ in range(3):
        x, y = next(loader)
        sizes.append(len(x))
        assert job.step == 1
        turn(model, optimizer, scheduler, x, y)
        rates.append(optimizer.param_groups[0]["lr"])
    assert sizes == [10, 10, 10]
    assert job.step == 2
    assert any(not torch.equal(a, b) for a, b in zip(model.parameters(), before, strict=True))
    # The rate in force is three times the schedule's; the schedule itself moved by one step of the initial batch.
    assert job.metrics()["learning_rate"] == pytest.approx(3 * rates[0])
    assert training.counters.scale_invariant_steps == 2
    assert training.counters.due_of(0) == 2
    assert training.counters.cursor == 40
    assert optimizer.param_groups[0]["lr"] == pytest.approx(scheduler.get_last_lr()[0])


def test_a_schedule_ends_where_the_work_does(monkeypatch: pytest.MonkeyPatch) -> None:
    # As of a larger batch: the seventh step reaches 21 of 20.
    monkeypatch.setattr(JointNoise, "gain", lambda *_: 3.0)
    model, optimizer, _ = objects()
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=20)
    job = kastor.init()
    job.prepare(model, optimizer, scheduler)
    for x, y in job.batches(Data(), batch_size=10, epochs=2):
        turn(model, optimizer, scheduler, x, y)
    assert (job.step, job._training.counters.scale_invariant_steps) == (7, 21)
    assert (job._training.counters.due_of(0), scheduler.last_epoch) == (20, 20)


def test_a_second_optimizer_or_scaler_by_a_name_is_refused() -> None:
    model, optimizer, _ = objects()
    second = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(UsageError, match="given critic, a SGD, by a name"):
        kastor.init().prepare(model, optimizer, critic=second)
    with pytest.raises(UsageError, match="and a scaler as scaler="):
        kastor.init().prepare(model, optimizer, other=torch.amp.GradScaler("cpu"))


def test_a_second_scheduler_is_held_to_the_steps_as_the_first_one_is() -> None:
    model, optimizer, first = objects()
    second = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    job = kastor.init()
    job.prepare(model, optimizer, first, warmup=second)
    loader = iter(job.loader(Data(), 8))
    turn(model, optimizer, first, *next(loader))
    second.step()
    next(loader)
    assert job._training.counters.schedules == [1, 1]
    assert second.last_epoch == 1
    with pytest.raises(UsageError, match="takes no arguments in the loop"):
        second.step(3)


def test_a_step_that_a_scaler_skips_brings_nothing() -> None:
    model, optimizer, scheduler = objects()
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=10**6)
    job = kastor.init()
    job.prepare(model, optimizer, scheduler, scaler)
    loader = iter(job.loader(Data(), batch_size=10))
    for number in range(4):
        x, y = next(loader)
        before = [p.clone() for p in model.parameters()]
        loss = F.cross_entropy(model(x), y) * (float("inf") if number == 2 else 1.0)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
        same = all(torch.equal(a, b) for a, b in zip(model.parameters(), before, strict=True))
        assert same == (number == 2)
    assert (job.step, job._training.counters.scale_invariant_steps) == (4, 3)
    assert scaler.get_scale() == 2.0**9


def test_state_of_the_script_is_part_of_the_training() -> None:
    class Best:
        value = 1.0

        def state_dict(self) -> Any:
            return {"value": self.value}

        def load_state_dict(self, state: Any) -> None:
            self.value = state["value"]

    model, optimizer, scheduler = objects()
    job = kastor.init()
    best = Best()
    job.prepare(model, optimizer, scheduler, best=best)
    next(iter(job.loader(Data(), batch_size=10)))
    state = job._training.members.state
    assert state is not None
    saved = state.checkpoint()
    best.value = 2.0
    state.restore_checkpoint(saved)
    assert best.value == 1.0


@pytest.mark.parametrize(
    "join",
    [
        torch.optim.lr_scheduler.ChainedScheduler,
        lambda parts: torch.optim.lr_scheduler.SequentialLR(parts[0].optimizer, parts, [3]),
    ],
)
def test_a_scheduler_of_several_is_given_as_one(join: Callable[[list[Any]], Any]) -> None:
    model, optimizer, _ = objects()
    parts = [torch.optim.lr_scheduler.LinearLR(optimizer, 0.1), torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]
    job = kastor.init()
    job.prepare(model, optimizer, join(parts), first=_)
    next(iter(job.loader(Data(), batch_size=10)))


def test_a_mean_leaves_out_what_has_no_weight() -> None:
    job = kastor.init()
    assert math.isnan(job.average(math.nan, weight=0))
    assert job.average(3.0, weight=2) == 3.0
    assert job.sum(torch.tensor(2.5)) == 2.5
    assert torch.equal(job.gather(torch.arange(3)), torch.arange(3))
    assert job.of_rank0({"loss": 0.1}) == {"loss": 0.1}


def test_the_best_of_a_metric_is_part_of_the_state(tmp_path: Path) -> None:
    job, model, optimizer, scheduler = prepared()
    with pytest.raises(UsageError, match="before the loop over batches"):
        job.is_best(accuracy=1.0)
    loader, found = job.loader(Data(), batch_size=50), []
    values = iter([0.5, 0.7, math.nan, 0.7, torch.tensor(0.9)])
    for _ in job.epochs(5):
        for x, y in loader:
            turn(model, optimizer, scheduler, x, y)
        value = next(values)
        found.append((job.is_best(accuracy=value), job.is_best(least=True, loss=value)))
    assert found == [(True, True), (True, False), (False, False), (False, False), (True, False)]
    state = job._training.members.state
    assert state is not None
    before = state.checkpoint()
    assert not job.is_best(accuracy=0.8)
    assert job.is_best(accuracy=1.0)
    state.restore_checkpoint(before)
    assert job.is_best(accuracy=0.95)
    job._training.rehearsing = True
    assert not job.is_best(accuracy=2.0)
    job.export(tmp_path / "best.pt")
    job._training.rehearsing = False
    assert list(tmp_path.iterdir()) == []
    assert job.is_best(accuracy=1.5)
    with pytest.raises(UsageError, match="takes one metric by its name but was given 2"):
        job.is_best(a=1, b=2)


@pytest.mark.slow
def test_a_process_that_imports_the_script_is_no_replica(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        """
import multiprocessing, os
import kastor.torch as kastor
from kastor.errors import ConfigError

if __name__ != "__main__":
    os.environ["KASTOR_OPERATOR_URL"] = "http://127.0.0.1:1"  # With nothing else that a replica needs.
job = kastor.init()

def trains():
    try:
        kastor.init()
    except ConfigError as e:
        os.write(1, f"a replica: {str(e)[:20]}".encode())
        os._exit(3)

if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=trains)
    process.start()
    process.join()
    print(process.exitcode)
"""
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(kastor.__file__).parents[2])}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.startswith("a replica: ")
    assert done.stdout.endswith("3\n"), done.stderr


def test_takes_options_that_change_nothing() -> None:
    loader = kastor.init().loader(Data(), batch_size=30, drop_last=True, persistent_workers=True)
    assert len(loader) == 4


@pytest.mark.parametrize(
    ("optimizer", "rule"),
    [
        *((torch.optim.SGD, "AdaScale"), (torch.optim.AdamW, "SquareRoot"), (torch.optim.RMSprop, "SquareRoot")),
        *((torch.optim.Adadelta, None), (torch.optim.Rprop, None)),
        (type("Mine", (torch.optim.Adam,), {}), "SquareRoot"),
        (
            type(
                "Muon",
                (torch.optim.Optimizer,),
                {"__init__": lambda self, p, lr: torch.optim.Optimizer.__init__(self, p, {"lr": lr})},
            ),
            None,
        ),
    ],
)
def test_a_rule_for_the_rate_is_one_that_was_published(optimizer: Any, rule: str | None) -> None:
    assert rule_for(optimizer(torch.nn.Linear(2, 2).parameters(), lr=0.1)) == rule


# --- rules ---


def prepared() -> tuple[Any, Any, Any, Any]:
    job = kastor.init()
    model, optimizer, scheduler = objects()
    job.prepare(model, optimizer, scheduler)
    return job, model, optimizer, scheduler


def fetches_ahead() -> None:
    job, model, optimizer, scheduler = prepared()
    loader = iter(job.loader(Data(), batch_size=10))
    x, y = next(loader)
    next(loader)
    turn(model, optimizer, scheduler, x, y)


def skips_a_step() -> None:
    job, model, _, _ = prepared()
    for x, y in job.loader(Data(), batch_size=10):
        F.cross_entropy(model(x), y).backward()


def steps_without_backward() -> None:
    job, _, optimizer, _ = prepared()
    for _ in job.loader(Data(), batch_size=10):
        optimizer.step()


def goes_backward_twice() -> None:
    job, model, _, _ = prepared()
    for x, y in job.loader(Data(), batch_size=10):
        F.cross_entropy(model(x), y).backward()
        F.cross_entropy(model(x), y).backward()


def has_fewer_examples_than_a_batch() -> None:
    kastor.init().loader(Data(9), batch_size=10)


def has_no_length() -> None:
    class Stream(torch.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Any:
            return iter([])

    kastor.init().loader(Stream(), batch_size=10)


def brings_batches() -> None:
    kastor.init().loader(Data(), batch_size=10, batch_sampler=[[1, 2]])


def brings_a_sampler_of(*indices: Any) -> Callable[[], None]:
    def script() -> None:
        job, _, _, _ = prepared()
        next(iter(job.loader(Data(), batch_size=2, sampler=indices)))

    return script


def brings_a_sampler_without_an_end() -> None:
    endless = torch.utils.data.RandomSampler(Data(), replacement=True, num_samples=int(1e10))
    kastor.init().loader(Data(), batch_size=10, sampler=endless)


def brings_a_sampler_without_a_length() -> None:
    kastor.init().loader(Data(), batch_size=10, sampler=iter([1, 2]))


class OwnGenerator:
    """Sampler that draws from a generator of its own."""

    def __init__(self) -> None:
        self._own = np.random.default_rng()

    def __len__(self) -> int:
        return 100

    def __iter__(self) -> Iterator[int]:
        return iter(self._own.permutation(100).tolist())


def brings_a_sampler_with_a_generator_of_its_own() -> None:
    job, _, _, _ = prepared()
    next(iter(job.loader(Data(), batch_size=10, sampler=OwnGenerator())))


class Growing:
    """Sampler whose epochs have other lengths than it says."""

    def __len__(self) -> int:
        return 10

    def __iter__(self) -> Iterator[int]:
        return iter(range(11))


class Repeated(torch.utils.data.DistributedSampler):  # type: ignore[misc]
    """Distributed sampler with another meaning than PyTorch's."""

    def __iter__(self) -> Iterator[int]:
        return iter([7] * len(self))


def brings_a_sampler_of_a_share() -> None:
    kastor.init().loader(Data(), batch_size=10, sampler=Repeated(Data(), num_replicas=2, rank=0))


def brings_a_sampler_of_another_length() -> None:
    job, _, _, _ = prepared()
    next(iter(job.loader(Data(), batch_size=10, sampler=Growing())))


def names_no_batch() -> None:
    kastor.init().loader(Data())


def prepares_after_a_step() -> None:
    model, optimizer, scheduler = objects()
    turn(model, optimizer, scheduler, *Data()[torch.arange(10)])
    kastor.init().prepare(model, optimizer)


def gives_an_optimizer_twice() -> None:
    model, optimizer, _ = objects()
    kastor.init().prepare(model, [optimizer, optimizer])


def prepares_twice() -> None:
    job, model, optimizer, _ = prepared()
    job.prepare(model, optimizer)


def has_parameters_outside() -> None:
    model, _, _ = objects()
    other = torch.nn.Linear(2, 2)
    kastor.init().prepare(model, torch.optim.SGD([*model.parameters(), *other.parameters()], lr=1.0))


def searches_lines() -> None:
    model, _, _ = objects()
    kastor.init().prepare(model, torch.optim.LBFGS(model.parameters()))


def makes_a_scheduler_late() -> None:
    job, model, optimizer, _ = prepared()
    late = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    for x, y in job.loader(Data(), batch_size=10):
        turn(model, optimizer, late, x, y)


def gives_one_of_two_schedulers() -> None:
    job = kastor.init()
    model, optimizer, scheduler = objects()
    other = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    job.prepare(model, optimizer, scheduler)
    loader = job.loader(Data(), batch_size=50)
    for _ in job.epochs(2):
        for x, y in loader:
            turn(model, optimizer, scheduler, x, y)
        other.step(1.0)


def has_sparse_gradients() -> None:
    model = torch.nn.Sequential(torch.nn.Embedding(10, 4, sparse=True), torch.nn.Linear(4, 2))
    kastor.init().prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))


def has_complex_parameters() -> None:
    model = torch.nn.Module()
    model.register_parameter("w", torch.nn.Parameter(torch.zeros(2, dtype=torch.cfloat)))
    kastor.init().prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))


def has_parameters_without_a_shape() -> None:
    model = torch.nn.Sequential(torch.nn.LazyLinear(4))
    kastor.init().prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))


def has_no_rate() -> None:
    model, optimizer, _ = objects()
    optimizer.param_groups[0]["lr"] = None
    kastor.init().prepare(model, optimizer)


def logs_a_vector() -> None:
    kastor.init().log(norms=torch.ones(3))


def logs_a_word() -> None:
    kastor.init().log(kind="large")  # type: ignore[arg-type]


def trains_nothing() -> None:
    model, optimizer, _ = objects()
    kastor.init().prepare(model.requires_grad_(False), optimizer)


def forgets_to_prepare() -> None:
    job = kastor.init()
    next(iter(job.loader(Data(), batch_size=10)))


def loops_without_epochs() -> None:
    job, model, optimizer, scheduler = prepared()
    loader = job.loader(Data(), batch_size=50)
    for _ in range(2):
        for x, y in loader:
            turn(model, optimizer, scheduler, x, y)


def trains_from_two_loaders() -> None:
    job, model, optimizer, scheduler = prepared()
    for _ in job.epochs(2):
        for x, y in job.loader(Data(), batch_size=50):
            turn(model, optimizer, scheduler, x, y)


def loops_over_nothing() -> None:
    job, _, _, _ = prepared()
    for _ in job.epochs(2):
        pass


def schedules_by_a_metric_in_the_loop() -> None:
    job, model, optimizer, scheduler = prepared()
    for x, y in job.loader(Data(), batch_size=50):
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        scheduler.step(3)


def finishes_before_it_begins() -> None:
    prepared()[0].finish()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            fetches_ahead,
            r"asked for another batch before loss.backward\(\) on the one at position 0.*switch off prefet",
        ),
        (skips_a_step, r"without optimizer.step\(\). Call it once for each batch"),
        (steps_without_backward, r"optimizer.step\(\) ran without loss.backward\(\)"),
        (goes_backward_twice, r"A second backward pass.*Add the losses"),
        (has_fewer_examples_than_a_batch, r"has 9 examples, fewer than one batch of 10. Lower"),
        (has_no_length, r"no length: a loader needs one with __len__"),
        (brings_batches, r"does not take batch_sampler.*Give the sampler of single examples"),
        (brings_a_sampler_of(1, 100), r"gave example 100 of a data set of 100. tuple must give numbers from 0"),
        (brings_a_sampler_of(-1, 1), r"gave example -1 of a data set"),
        (brings_a_sampler_of([1, 2], [3]), r"gave what is no number of an example.*the sampler of single examples"),
        (brings_a_sampler_without_a_length, r"The sampler has no length: list_iterator needs __len__"),
        (brings_a_sampler_without_an_end, r"The sampler has epochs of 10000000000 examples"),
        (brings_a_sampler_with_a_generator_of_its_own, r"another order each time: OwnGenerator draws from"),
        (brings_a_sampler_of_a_share, r"gives one of 2 shares of an epoch.*give Repeated num_replicas=1 and rank=0"),
        (brings_a_sampler_of_another_length, r"gave 11 examples in epoch 0, and its length is 10"),
        (names_no_batch, r"needs batch_size where the script runs alone"),
        (prepares_after_a_step, r"called after a step.*Call it before the first step"),
        (gives_an_optimizer_twice, r"Parameter .* is in two optimizers"),
        (prepares_twice, r"was called before.*one torch.nn.ModuleDict"),
        (has_parameters_outside, r"has parameters that the model has not"),
        (searches_lines, r"LBFGS takes several passes"),
        (
            makes_a_scheduler_late,
            r"The StepLR of the optimizer is stepped, and prepare.. was not given it. Make it before",
        ),
        (gives_one_of_two_schedulers, r"The ReduceLROnPlateau of.*a second one as a named argument"),
        (has_sparse_gradients, r"^0 \(Embedding\) has sparse gradients.*Leave sparse=True out"),
        (has_complex_parameters, r"Parameter w is complex.*view_as_real"),
        (has_parameters_without_a_shape, r"Parameter 0.weight has no shape yet. Run the model once"),
        (has_no_rate, r"rate of group 0 is None.*Give the SGD a number as lr"),
        (logs_a_vector, r"a tensor of shape \[3\] as 'norms', and takes one number"),
        (logs_a_word, r"'large' as 'kind', and takes one number"),
        (trains_nothing, r"no parameter to train"),
        (forgets_to_prepare, r"before prepare\(\). Call job.prepare"),
        (loops_without_epochs, r"a second time without job.epochs\(\). Write"),
        (trains_from_two_loaders, r"A second loader is iterated"),
        (loops_over_nothing, r"went round without a loop over a loader"),
        (schedules_by_a_metric_in_the_loop, r"takes no arguments in the loop over batches"),
        (finishes_before_it_begins, r"finish\(\) was called before the loop"),
    ],
)
def test_names_the_rule_that_a_script_breaks_and_the_remedy(script: Callable[[], None], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        script()


def test_logs_to_a_file_where_it_is_asked(tmp_path: Path) -> None:
    job = kastor.init(log_dir=tmp_path / "log")
    model, optimizer, scheduler = objects()
    job.prepare(model, optimizer, scheduler)
    for x, y in job.loader(Data(), batch_size=50):
        job.log(loss=turn(model, optimizer, scheduler, x, y), **{"batch/mean": x.mean()})
    job.log(accuracy=0.5)
    with pytest.raises(UsageError, match=r"log\(\) was given the name 'a b'"):
        job.log(**{"a b": 1.0})
    found = [json.loads(line) for line in (tmp_path / "log" / "metrics.jsonl").read_text().splitlines()]
    assert [(line["step"], line["name"]) for line in found] == [
        *((1, "loss"), (1, "batch/mean")),
        *((2, "loss"), (2, "batch/mean")),
        (2, "accuracy"),
    ]
