"""Parts of the PyTorch client, members as threads of one process."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

torch: Any = pytest.importorskip("torch")
F: Any = torch.nn.functional


from pods import python_path  # noqa: E402

from kastor.checkpoint import CheckpointFolder  # noqa: E402
from kastor.errors import CheckpointError, UsageError  # noqa: E402
from kastor.noise import JointNoise, NoiseScaleEstimator  # noqa: E402
from kastor.protocol import Action, BatchPlan, Cause, Member, Membership  # noqa: E402
from kastor.starting import Source  # noqa: E402
from kastor.store import StoreClient, StoreServer  # noqa: E402
from kastor.torch.backward import BackwardReducer  # noqa: E402
from kastor.torch.group import BrokenGroupError, Group, Kind, Rows  # noqa: E402
from kastor.torch.join import History, agree  # noqa: E402
from kastor.torch.reducer import Reducer, squared_distance  # noqa: E402
from kastor.torch.state import Counters, TrainingState  # noqa: E402
from kastor.torch.statistics import BatchStatistics  # noqa: E402

R = TypeVar("R")
SECRET = b"s" * 32


class Threads:
    """Members of generations, each on a thread."""

    def __init__(self) -> None:
        self.server = StoreServer("127.0.0.1", SECRET, "ns/job")
        self.generation = 0

    def run(self, size: int, member: Callable[[Group], R], give_up: float = 600.0) -> list[R]:
        """Results of a function that is called with the group of each member."""
        self.generation += 1
        address = f"127.0.0.1:{self.server.port}"
        members = tuple(Member(f"p{i}", i, address, "n") for i in range(size))
        membership = Membership(self.generation, Action.RUN, members, BatchPlan(1))

        def one(rank: int) -> R:
            connect = lambda a: StoreClient(a, SECRET, "ns/job", 600)  # noqa: E731
            group = Group(membership, rank, connect, "127.0.0.1", lambda seconds: seconds > give_up)
            try:
                return member(group)
            finally:
                group.close()

        with ThreadPoolExecutor(size) as pool:
            return list(pool.map(one, range(size)))


@pytest.fixture(scope="module")
def threads() -> Iterator[Threads]:
    torch.set_num_threads(1)
    made = Threads()
    try:
        yield made
    finally:
        made.server.close()


class Net(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.a, self.b, self.unused = torch.nn.Linear(6, 8), torch.nn.Linear(8, 3), torch.nn.Linear(2, 2)
        self.maybe = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: Any, maybe: bool = False) -> Any:
        y = self.b(torch.tanh(self.a(x)))
        return y * self.maybe if maybe else y


def data(n: int = 48) -> tuple[Any, Any]:
    g = torch.Generator().manual_seed(5)
    return torch.randn(n, 6, generator=g), torch.randint(0, 3, (n,), generator=g)


@pytest.mark.never_retried
@pytest.mark.parametrize("bucket", [40, 10**9])
def test_gradient_is_the_mean_over_passes_and_members(threads: Threads, bucket: int) -> None:
    x, y = data()
    whole = Net()
    F.cross_entropy(whole(x), y).backward()
    # The generator of random numbers is one for all threads.
    nets = [Net(), Net()]

    def member(group: Group) -> tuple[Any, float, float]:
        net = nets[group.rank]
        reducer = Reducer(net.parameters(), bucket)
        for number in range(2):
            part = slice(12 * (2 * group.rank + number), 12 * (2 * group.rank + number + 1))
            reducer.begin(group, number, 2)
            # Members differ in which parameters they use.
            F.cross_entropy(net(x[part], maybe=group.rank == 1 and number == 0), y[part]).backward()
            assert all(p.grad is not None for p in net.a.parameters())
        assert reducer.error is None
        return net, reducer.squared_norms(), reducer.squared_norm()

    (first, squares_0, mean_0), (second, squares_1, mean_1) = threads.run(2, member)
    for p, q, r in zip(first.parameters(), second.parameters(), whole.parameters(), strict=True):
        if p is first.maybe:
            assert p.grad is not None
            assert torch.equal(p.grad, q.grad)
        elif r.grad is None:
            assert p.grad is q.grad is None
        else:
            assert torch.equal(p.grad, q.grad)
            assert torch.allclose(p.grad, r.grad, atol=1e-6)
    assert mean_0 == mean_1
    expected = sum(float(p.grad.double().square().sum()) for p in first.parameters() if p.grad is not None)
    assert mean_0 == pytest.approx(expected, rel=1e-6)

    def squares(rank: int) -> float:
        total = 0.0
        for number in range(2):
            part = slice(12 * (2 * rank + number), 12 * (2 * rank + number + 1))
            net = Net()
            F.cross_entropy(net(x[part], maybe=rank == 1 and number == 0), y[part]).backward()
            total += sum(float(p.grad.double().square().sum()) for p in net.parameters() if p.grad is not None)
        return total

    assert squares_0 == pytest.approx(squares(0), rel=1e-6)
    assert squares_1 == pytest.approx(squares(1), rel=1e-6)


@pytest.mark.never_retried
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_the_last_gradients_and_the_row_of_a_step_are_one_message(threads: Threads, dtype: Any) -> None:
    layers = [[torch.nn.Linear(3, 2).to(dtype) for _ in range(2)] for _ in range(3)]

    def values(rank: int, step: int) -> list[float]:
        return [2.0**40 + rank, -1 / 3, 1e-300, math.inf, -0.0, float(step)]

    def member(group: Group) -> tuple[list[Any], int]:
        first, second = layers[group.rank]
        # A bucket a parameter.
        reducer = Reducer([*first.parameters(), *second.parameters()], 1)
        start = group.start
        sent: list[Rows] = []
        found: list[Any] = []
        messages: list[int] = []

        def counted(*arguments: Any) -> Any:
            messages.append(1)
            return start(*arguments)

        def send() -> None:
            sent.append(reducer.send_row(group, Kind.STEP, values(group.rank, len(sent))))

        group.start = counted  # type: ignore[method-assign, assignment]
        reducer.on_computed = send
        for step in range(3):
            reducer.begin(group, 0, 1)
            x = torch.full((1, 3), float(group.rank + step), dtype=dtype)
            (first(x) + second(x)).sum().backward()
            assert reducer.error is None
            weight = first.weight.grad
            assert weight is not None
            found.append((sent[step].wait(), weight.unique().tolist()))
        return found, len(messages)

    for found, messages in threads.run(3, member):
        for step, (rows, gradient) in enumerate(found):
            assert str(rows) == str([values(rank, step) for rank in range(3)])
            assert gradient == pytest.approx([1 + step], rel=4 * torch.finfo(dtype).eps)
        assert messages == 3 * 4


@pytest.mark.never_retried
def test_backward_passes_add_up_to_the_mean_over_members(threads: Threads) -> None:
    x, y = data()
    halves = slice(24), slice(24, 48)

    def passes(net: Net, part: slice, maybe: bool) -> None:
        F.cross_entropy(net(x[part], maybe=maybe), y[part]).backward()
        # Not all parameters, and some of them a second time.
        net.a(x[part]).square().mean().backward()

    whole = Net()
    passes(whole, slice(48), False)
    nets = [Net(), Net()]

    def member(group: Group) -> tuple[float, float]:
        net = nets[group.rank]
        reducer = BackwardReducer([[net.a.weight, net.a.bias], [*net.b.parameters(), net.maybe]])
        reducer.begin(group)
        passes(net, halves[group.rank], maybe=group.rank == 1)
        # A second time, after gradients were cleared in place.
        net.zero_grad(set_to_none=False)
        for number in range(2):
            reducer.clear(number)
        passes(net, halves[group.rank], maybe=group.rank == 1)
        before = net.a.weight.grad
        assert before is not None
        # It calls the hooks of what it differentiates by, and adds nothing.
        torch.autograd.grad(net.a(x).sum(), net.a.weight)
        assert net.a.weight.grad is before
        assert reducer.error is None
        assert reducer.has_reached(0)
        reducer.select(0)
        return reducer.squared_norms(), reducer.squared_norm()

    (own_0, mean_0), (own_1, mean_1) = threads.run(2, member)
    for p, q, r in zip(nets[0].parameters(), nets[1].parameters(), whole.parameters(), strict=True):
        if p is nets[0].maybe:
            # Only one member reached it.
            assert p.grad is not None
            assert torch.equal(p.grad, q.grad)
        elif r.grad is None:
            assert p.grad is q.grad is None
        else:
            assert torch.equal(p.grad, q.grad)
            assert torch.allclose(p.grad, r.grad, atol=1e-6)

    def norm(net: Net) -> float:
        return sum(float(p.grad.double().square().sum()) for p in (net.a.weight, net.a.bias) if p.grad is not None)

    assert mean_0 == mean_1 == pytest.approx(norm(nets[0]), rel=1e-6)
    for part, own in zip(halves, (own_0, own_1), strict=True):
        alone = Net()
        passes(alone, part, maybe=part is halves[1])
        assert own == pytest.approx(norm(alone), rel=1e-6)


def test_a_backward_pass_that_reaches_other_optimizers_on_one_member_is_refused(threads: Threads) -> None:
    x, _ = data()
    nets = [Net(), Net()]

    def member(group: Group) -> None:
        net = nets[group.rank]
        reducer = BackwardReducer([[*net.a.parameters()], [*net.b.parameters()]])
        reducer.begin(group)
        with pytest.raises(UsageError, match="must not depend on the replica"):
            (net(x) if group.rank else net.a(x)).sum().backward()

    threads.run(2, member)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replicas", "passes", "batch"),
    [
        (1, 4, 8),
        pytest.param(3, 2, 8, marks=pytest.mark.slow),
        *(pytest.param(*each, marks=pytest.mark.nightly) for each in ((1, 2, 16), (2, 1, 16), (2, 2, 8))),
    ],
)
def test_noise_agrees_with_gradients_of_single_examples(
    threads: Threads, replicas: int, passes: int, batch: int
) -> None:
    n, m0, steps = 512, 32, 1200
    g = torch.Generator().manual_seed(1)
    x = torch.randn(n, 6, generator=g)
    y = 2.0 * x[:, :3] + 3.0
    nets = [Net() for _ in range(replicas)]

    def loss(net: Any, i: Any) -> Any:
        return F.mse_loss(net(x[i]), y[i])

    parameters = [p for name, p in nets[0].named_parameters() if name[0] in "ab"]
    each = [torch.cat([p.flatten() for p in torch.autograd.grad(loss(nets[0], [i]), parameters)]) for i in range(n)]
    gradients = torch.stack(each).double()
    mean = gradients.mean(0)
    squared_norm, variance = float(mean @ mean), float((gradients - mean).square().sum(1).mean())
    draws = torch.randint(0, n, (steps, replicas, passes, batch), generator=g)

    def member(group: Group) -> Any:
        net, noise, groups = nets[group.rank], NoiseScaleEstimator(m0, 0.99999), replicas * passes
        reducer = Reducer(net.parameters())
        for step in range(steps):
            for number in range(passes):
                reducer.begin(group, number, passes)
                loss(net, draws[step, group.rank, number]).backward()
            # A script may clip the gradient before its step.
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.01)
            squares = sum(row[0] for row in group.rows(Kind.STEP, [reducer.squared_norms()]))
            noise.observe(groups, squares / groups, reducer.squared_norm(), groups * batch)
        return noise.stats()

    found = threads.run(replicas, member)
    assert len(set(found)) == 1
    assert found[0].variance == pytest.approx(variance / m0, rel=0.05)
    assert found[0].squared_norm == pytest.approx(squared_norm, rel=0.05)
    assert m0 * found[0].variance / found[0].squared_norm == pytest.approx(variance / squared_norm, rel=0.05)


def test_a_single_gradient_is_kept_as_it_was_before_clipping() -> None:
    net, (x, y) = Net(), data()
    reducer = Reducer(net.parameters())
    kept = []
    for part in (slice(24), slice(24, 48)):
        reducer.begin(None, 0, 1, keep=True)
        F.cross_entropy(net(x[part]), y[part]).backward()
        whole = torch.cat([p.grad.flatten() for p in net.parameters() if p.grad is not None])
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.01)
        assert reducer.squared_norm() == pytest.approx(float(whole.square().sum()), rel=1e-6)
        kept.append((reducer.kept, whole))
    (before, first), (now, second) = kept
    distance = float((second - first).square().sum())
    assert squared_distance(now, before) == pytest.approx(distance, rel=1e-5)


def test_a_second_backward_pass_is_refused() -> None:
    net = Net()
    reducer = Reducer(net.parameters())
    x, y = data()
    reducer.begin(None, 0, 1)
    F.cross_entropy(net(x), y).backward()
    with pytest.raises(UsageError, match="Add the losses"):
        F.cross_entropy(net(x), y).backward()
    reducer.end()
    F.cross_entropy(net(x), y).backward()


def test_rows_come_in_rank_order_and_speak_of_the_same(threads: Threads) -> None:
    assert (
        threads.run(3, lambda g: g.rows(Kind.STEP, [g.rank, 2.0**40 + g.rank]))
        == [[[0.0, 2.0**40], [1.0, 2.0**40 + 1], [2.0, 2.0**40 + 2]]] * 3
    )

    def differ(group: Group) -> str:
        with pytest.raises(BrokenGroupError) as caught:
            group.rows(Kind.END if group.rank else Kind.STEP, [])
        return str(caught.value)

    assert threads.run(2, differ) == ["members are at different places of the script (STEP, END)"] * 2


def test_a_closed_group_takes_no_row_and_leaves_the_gradients_alone(threads: Threads) -> None:
    def member(group: Group) -> bool:
        gradients = torch.ones(group.row_room)
        group.rows(Kind.END, [])
        group.close()
        with pytest.raises(BrokenGroupError, match="is closed"):
            group.send_row(Kind.STEP, [1.0], gradients)
        return bool((gradients == 1).all())

    assert threads.run(2, member) == [True, True]


def test_a_group_whose_member_goes_is_broken_for_the_others(threads: Threads) -> None:
    def member(group: Group) -> bool:
        group.rows(Kind.STEP, [1.0])
        if group.rank == 1:
            return True
        with pytest.raises(BrokenGroupError):
            group.rows(Kind.STEP, [1.0])
        return not group.stuck

    assert threads.run(2, member) == [True, True]


@pytest.mark.slow
def test_a_forked_worker_outlives_a_broken_group_that_is_garbage() -> None:
    script = """
import gc, os, signal, sys
import torch.distributed as dist
import kastor.torch.group
gc.disable()
options = dist.ProcessGroupGloo._Options()
options._devices = [dist.ProcessGroupGloo.create_device(hostname="127.0.0.1")]
cycle = [dist.ProcessGroupGloo(dist.HashStore(), 0, 1, options)]
cycle.append(cycle)
del cycle
pid = os.fork()
if pid == 0:
    signal.alarm(20)
    gc.collect()
    os._exit(0)
sys.stdout.write(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
sys.stdout.flush()
os._exit(0)
"""
    environment = {**os.environ, "PYTHONPATH": python_path()}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "0", done.stderr


def test_an_exchange_with_one_that_hangs_can_be_given_up(threads: Threads) -> None:
    ended = threading.Event()

    def member(group: Group) -> bool:
        if group.rank == 1:
            ended.wait(600)
            return True
        try:
            with pytest.raises(BrokenGroupError, match="does not answer"):
                group.rows(Kind.STEP, [1.0])
            return group.stuck
        finally:
            ended.set()

    assert threads.run(2, member, give_up=0.5) == [True, True]


class Late:
    """Work that ends at the moment at which the first wait for it does."""

    def __init__(self) -> None:
        self.turns = 0

    def is_completed(self) -> bool:
        return self.turns > 0

    def wait(self, timeout: Any) -> None:
        self.turns += 1
        if self.turns == 1:
            raise RuntimeError("Operation timed out!")


class Failed:
    """Work of an exchange that fails."""

    def __init__(self, work: Any) -> None:
        self.work = work

    def is_completed(self) -> bool:
        return True

    def wait(self, timeout: Any) -> None:
        raise RuntimeError("it failed")


def test_an_exchange_that_ends_as_a_turn_of_its_wait_does_has_not_failed(threads: Threads) -> None:
    def member(group: Group) -> int:
        work: Any = Late()
        group.start(lambda _: work, None).wait()
        turns: int = work.turns
        return turns

    assert threads.run(2, member) == [2, 2]


def test_a_closed_group_breaks_for_the_others_although_its_exchanges_are_kept(threads: Threads) -> None:
    broke = threading.Event()

    def member(group: Group) -> bool:
        tensors = [torch.ones(3), torch.ones(3)]
        if group.rank == 1:
            try:
                for tensor in tensors:
                    group.sum(tensor).wait()
                with pytest.raises(BrokenGroupError):
                    group.rows(Kind.STEP, [1.0])
            finally:
                broke.set()
            return not group.stuck
        kept = group.sum(tensors[0])
        fails: Callable[[Any], Any] = lambda backend: Failed(backend.allreduce([tensors[1]]))  # noqa: E731
        failing = group.start(fails, tensors[1])
        try:
            failing.wait()
        except BrokenGroupError as e:
            error = e  # With all frames through which it came.
        with pytest.raises(BrokenGroupError, match="it failed"):
            failing.wait()
        group.close()
        assert broke.wait(600)
        with pytest.raises(BrokenGroupError, match="is closed"):
            kept.wait()
        return str(error) == "it failed"

    assert threads.run(2, member, give_up=20) == [True, True]


def test_a_tensor_may_be_under_way_for_longer_than_a_turn(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kastor.torch.group._LOOK_SECONDS", 0.02)

    def member(group: Group) -> list[float]:
        if group.rank == 1:

            def slow() -> Iterator[torch.Tensor]:
                for number in range(3):
                    time.sleep(0.2)
                    yield torch.tensor([float(number)])

            group.send(slow(), 0)
            return []
        return [group.receive(torch.zeros(1), 1).item() for _ in range(3)]

    assert threads.run(2, member)[0] == [0.0, 1.0, 2.0]


def trained(seed: int, steps: int, kind: Any = torch.optim.AdamW) -> TrainingState:
    net = Net(seed)
    net.extra = torch.nn.BatchNorm1d(6)
    net.wide = torch.nn.Parameter(torch.ones(70_000, dtype=torch.bfloat16))
    net.register_buffer("flags", torch.tensor([True, False]))
    optimizer = kind(net.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5, 5])
    scaler = torch.amp.GradScaler("cpu")
    x, y = data()
    for _ in range(steps):
        optimizer.zero_grad()
        scaler.scale(F.cross_entropy(net(net.extra(x)), y) + net.wide.float().sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
    parts = {"model": net, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler}
    state = TrainingState(parts, JointNoise(32))
    state.counters = Counters(steps, steps + 0.1, 32 * steps, 5, 2**64 - 1, 1, schedules=[steps])
    return state


@pytest.mark.never_retried
def test_members_agree_on_the_best_state_to_the_bit(threads: Threads) -> None:
    # Rank 1 has the youngest lineage, rank 2 more steps of an older one, rank 0 and 3 none.
    states = [trained(0, 0), trained(1, 3), trained(2, 6), trained(3, 0)]
    histories = [History() for _ in states]
    histories[1].lineage, histories[2].lineage = 5, 4
    histories[1].replicas = histories[2].replicas = 2
    histories[2].broken = True
    before = states[1].digest()

    def member(group: Group) -> Any:
        change = agree(group, states[group.rank], histories[group.rank], lambda: pytest.fail("there is a state"))
        return change, states[group.rank].digest()

    found = threads.run(4, member)
    assert {digest for _, digest in found} == {before}
    assert {h.lineage for h in histories} == {threads.generation}
    assert states[0].counters == Counters(3, 3.1, 96, 5, 2**64 - 1, 1, schedules=[3])
    assert {(c.replicas_before, c.replicas_after, c.cause) for c, _ in found} == {(2, 4, Cause.FAILURE)}
    a, b = states[0].parts, states[1].parts
    assert str(a["optimizer"].state_dict()) == str(b["optimizer"].state_dict())
    assert a["scheduler"].state_dict() == b["scheduler"].state_dict()


def test_rank_0_makes_the_state_where_nobody_has_any(threads: Threads) -> None:
    states, started = [trained(0, 0), trained(1, 0)], []

    def member(group: Group) -> int:
        def start() -> Source:
            started.append(group.rank)
            return Source.INITIAL

        agree(group, states[group.rank], History(), start)
        return states[group.rank].digest()

    assert len(set(threads.run(2, member))) == 1
    assert started == [0]


@pytest.mark.never_retried
def test_the_digest_sees_one_bit(threads: Threads) -> None:
    state = trained(0, 2)
    before = state.digest()
    assert state.digest() == before
    wide = dict(state.parts["model"].state_dict())["wide"]
    with torch.no_grad():
        wide[69_999] += 0.0078125
    assert state.digest() != before
    with torch.no_grad():
        wide[69_999] -= 0.0078125
    assert state.digest() == before
    state.counters.cursor += 1
    assert state.digest() != before


@pytest.mark.never_retried
def test_a_checkpoint_restores_all_to_the_bit(tmp_path: Path) -> None:
    state = trained(1, 4)
    CheckpointFolder(tmp_path, "u", 1).save(state.checkpoint())
    other = trained(2, 1)
    found = CheckpointFolder(tmp_path, "u", 1).newest()
    assert found is not None
    other.restore_checkpoint(found)
    assert other.digest() == state.digest()


def test_a_checkpoint_of_another_script_is_refused_with_the_remedy() -> None:
    checkpoint = trained(1, 2).checkpoint()
    wider = trained(1, 0)
    wider.parts["model"].b = torch.nn.Linear(8, 4)  # type: ignore[attr-defined]
    with pytest.raises(
        CheckpointError, match=r"step 2 does not fit this script: 'model' cannot take it over.*size mis"
    ):
        wider.restore_checkpoint(checkpoint)
    fewer = trained(1, 0)
    fewer.parts = {"model": fewer.parts["model"], "optimizer": fewer.parts["optimizer"]}
    with pytest.raises(CheckpointError, match=r"prepare\(\) was given \['model', 'optimizer'\]"):
        fewer.restore_checkpoint(checkpoint)


def test_another_jobs_checkpoint_gives_the_model_alone(tmp_path: Path) -> None:
    CheckpointFolder(tmp_path, "other", 1).save(trained(1, 4).checkpoint())
    found = CheckpointFolder(tmp_path, "other", 1).newest()
    assert found is not None
    begun, fresh, source = trained(2, 0), trained(2, 0), trained(1, 4)
    # What another script registers beside the model does not matter.
    begun.parts = {"model": begun.parts["model"], "optimizer": begun.parts["optimizer"]}
    begun.begin_with(found)
    for name, tensor in source.parts["model"].state_dict().items():
        assert torch.equal(tensor, begun.parts["model"].state_dict()[name])
    assert begun.counters == fresh.counters
    assert str(begun.parts["optimizer"].state_dict()) == str(fresh.parts["optimizer"].state_dict())
    wider = trained(1, 0)
    wider.parts["model"].b = torch.nn.Linear(8, 4)  # type: ignore[attr-defined]
    with pytest.raises(CheckpointError, match=r"the one of step 4 does not fit this script: 'model'.*size mismatch"):
        wider.begin_with(found)


@pytest.mark.never_retried
def test_a_state_that_is_more_than_data_is_refused() -> None:
    class Odd:
        def state_dict(self) -> Any:
            return {"f": lambda: 0}

        def load_state_dict(self, state: Any) -> None:
            pass

    with pytest.raises(UsageError, match=r"state\.parts\.odd\.f holds a builtins\.function"):
        TrainingState({"odd": Odd()}, JointNoise(1)).captured()


@pytest.mark.never_retried
def test_batch_statistics_are_averaged_and_constants_keep_their_bits(threads: Threads) -> None:
    x, _ = data()

    def member(group: Group) -> Any:
        net = torch.nn.Sequential(torch.nn.BatchNorm1d(6))
        net.register_buffer("mask", torch.tensor([float("-inf"), 0.1, 1 / 3]))
        statistics = BatchStatistics(net)
        statistics.remember()
        net(x[16 * group.rank : 16 * (group.rank + 1)])
        assert statistics.average(group)()
        return net

    nets = threads.run(3, member)
    assert len({str(net.state_dict()) for net in nets}) == 1
    assert torch.equal(nets[0].mask, torch.tensor([float("-inf"), 0.1, 1 / 3]))
    assert torch.allclose(nets[0][0].running_mean, 0.1 * x.mean(0), atol=1e-6)
    assert int(nets[0][0].num_batches_tracked) == 1


def test_a_layer_that_was_replaced_since_moves_nothing(threads: Threads) -> None:
    def member(group: Group) -> Any:
        net = torch.nn.Sequential(torch.nn.BatchNorm1d(6))
        statistics = BatchStatistics(net)
        statistics.remember()
        if group.rank == 1:
            net[0] = torch.nn.BatchNorm1d(7)
            net[0].running_mean.fill_(3)
        else:
            net[0].running_mean.fill_(4)
        assert statistics.average(group)()
        return net[0].running_mean

    kept, replaced = threads.run(2, member)
    assert torch.equal(kept, torch.full((6,), 2.0))
    assert torch.equal(replaced, torch.full((7,), 3.0))


def test_batch_statistics_of_a_step_that_is_not_applied_are_undone() -> None:
    net = torch.nn.BatchNorm1d(6)
    statistics = BatchStatistics(net)
    net(data()[0])
    before = {name: b.clone() for name, b in net.named_buffers()}
    statistics.remember()
    net(data()[0])
    statistics.undo()
    assert all(torch.equal(b, before[name]) for name, b in net.named_buffers())
