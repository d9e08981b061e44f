"""Several optimizers, as of a generative adversarial network: alone as in plain PyTorch, and by replicas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Cluster
from step_records import checked_steps

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import kastor.torch as kastor  # noqa: E402
from kastor.errors import UsageError  # noqa: E402
from kastor.noise import JointNoise  # noqa: E402
from kastor.protocol import BatchPlan  # noqa: E402
from kastor.sampler import ElasticSampler, order_of  # noqa: E402


class Pair:
    """Generator and critic with their optimizers, schedules and, maybe, a scaler."""

    def __init__(self, scaled: bool = False) -> None:
        torch.manual_seed(4)
        self.generator = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 4))
        self.critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        self.model = nn.ModuleDict({"generator": self.generator, "critic": self.critic})
        self.optimizers = [
            torch.optim.Adam(self.critic.parameters(), lr=0.01),
            torch.optim.SGD(self.generator.parameters(), lr=0.05),
        ]
        self.schedules = [torch.optim.lr_scheduler.StepLR(each, 2, 0.9) for each in self.optimizers]
        self.scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=3) if scaled else None

    def prepared(self) -> kastor.Job:
        job = kastor.init(seed=2)
        job.prepare(self.model, self.optimizers, self.schedules, self.scaler)
        return job

    def step(self, optimizer: Any) -> None:
        if self.scaler is None:
            nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 0.3)
            optimizer.step()
        else:
            self.scaler.step(optimizer)

    def backward(self, loss: Any) -> None:
        (loss if self.scaler is None else self.scaler.scale(loss)).backward()

    def turn(self, real: Any, noise: Any, generates: bool = True) -> None:
        """Trains both on a batch, as the example of PyTorch does."""
        of_critic, of_generator = self.optimizers
        of_critic.zero_grad()
        self.backward(loss_of(self.critic(real), 1.0))
        fake = self.generator(noise)
        self.backward(loss_of(self.critic(fake.detach()), 0.0))
        self.step(of_critic)
        if generates:
            self.generator.zero_grad()
            # It reaches the critic as well, whose gradients are thrown away at the next batch.
            self.backward(loss_of(self.critic(fake), 1.0))
            self.step(of_generator)
        for schedule in self.schedules:
            schedule.step()
        if self.scaler is not None:
            self.scaler.update()

    def bits(self) -> list[Any]:
        return [*self.model.state_dict().values(), *(s.get_last_lr()[0] for s in self.schedules)]


def loss_of(found: Any, wanted: float) -> Any:
    return F.binary_cross_entropy_with_logits(found, torch.full_like(found, wanted))


def real(n: int = 60) -> Any:
    return torch.randn(n, 4, generator=torch.Generator().manual_seed(8))


def noise(step: int, n: int) -> Any:
    return torch.randn(n, 3, generator=torch.Generator().manual_seed(step))


@pytest.mark.never_retried
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("every", [1, 3])
def test_trains_as_plain_pytorch_to_the_bit(scaled: bool, every: int) -> None:
    data = real()
    pair = Pair(scaled)
    job = pair.prepared()
    loader = job.loader(data, batch_size=12)
    for _ in job.epochs(3):
        for batch in loader:
            pair.turn(batch, noise(job.step, len(batch)), job.step % every == 0)
    job.finish()
    assert job.step == 15

    plain = Pair(scaled)
    sampler = ElasticSampler(order_of(60, seed=2))
    for step in range(15):
        batch = data[sampler.take(12 * step, BatchPlan(12), 1, 0, 0).examples]
        plain.turn(batch, noise(step, 12), step % every == 0)
    for found, wanted in zip(pair.bits(), plain.bits(), strict=True):
        assert torch.equal(torch.as_tensor(found), torch.as_tensor(wanted))


@pytest.mark.never_retried
def test_what_is_frozen_at_first_and_passes_through_gradients_train_as_alone() -> None:
    """The critic has a penalty on its gradient, as of WGAN-GP, and is frozen but for its turn."""

    def turn(pair: Pair, batch: Any, step: int) -> None:
        pair.critic.requires_grad_(True)
        fake = pair.generator(noise(step, len(batch)))
        for _ in range(2):
            pair.optimizers[0].zero_grad(set_to_none=False)
            between = (batch + fake.detach()).div(2).requires_grad_(True)
            (slope,) = torch.autograd.grad(pair.critic(between).sum(), between, create_graph=True)
            (pair.critic(fake.detach()) - pair.critic(batch)).mean().backward()
            (slope.norm(2, 1) - 1).square().mean().backward()
            pair.optimizers[0].step()
        pair.critic.requires_grad_(False)
        pair.optimizers[1].zero_grad()
        (-pair.critic(fake)).mean().backward()
        pair.optimizers[1].step()

    data, pair = real(), Pair()
    pair.critic.requires_grad_(False)
    job = pair.prepared()
    for batch in job.loader(data, batch_size=12):
        turn(pair, batch, job.step)
    plain, sampler = Pair(), ElasticSampler(order_of(60, seed=2))
    for step in range(5):
        turn(plain, data[sampler.take(12 * step, BatchPlan(12), 1, 0, 0).examples], step)
    for found, wanted in zip(pair.bits(), plain.bits(), strict=True):
        assert torch.equal(torch.as_tensor(found), torch.as_tensor(wanted))


@pytest.mark.never_retried
def test_schedules_move_with_the_batches_on_which_they_are_stepped() -> None:
    def turn(pair: Pair, batch: Any, step: int) -> None:
        fake = pair.generator(noise(step, len(batch)))
        for _ in range(3):
            pair.optimizers[0].zero_grad()
            (loss_of(pair.critic(batch), 1.0) + loss_of(pair.critic(fake.detach()), 0.0)).backward()
            pair.optimizers[0].step()
        for _ in range(3):
            pair.schedules[0].step()
        if step % 2 == 0:
            # The weight of a loss by the gradient of the last layer, as of VQGAN, adds to no gradient.
            last = pair.generator[3].weight
            (slope,) = torch.autograd.grad(pair.critic(fake).mean(), last, retain_graph=True)
            pair.optimizers[1].zero_grad()
            (loss_of(pair.critic(fake), 1.0) * slope.norm().detach()).backward()
            pair.optimizers[1].step()
            pair.schedules[1].step()

    data, pair = real(), Pair()
    job = pair.prepared()
    loader = job.loader(data, batch_size=12)
    for _ in job.epochs(2):
        for batch in loader:
            turn(pair, batch, job.step)
    plain, sampler = Pair(), ElasticSampler(order_of(60, seed=2))
    for step in range(10):
        turn(plain, data[sampler.take(12 * step, BatchPlan(12), 1, 0, 0).examples], step)
    assert [schedule.last_epoch for schedule in pair.schedules] == [30, 5]
    for found, wanted in zip(pair.bits(), plain.bits(), strict=True):
        assert torch.equal(torch.as_tensor(found), torch.as_tensor(wanted))


def test_noise_of_all_is_the_sum_of_each() -> None:
    joint = JointNoise(10, 2)
    for _ in range(20):
        joint.of(0).observe(2, 5.0, 3.0, 10)
    assert joint.stats() is None
    assert joint.gain(20) == 1.0
    for _ in range(20):
        joint.of(1).observe(2, 9.0, 7.0, 10)
    first, second, both = joint.of(0).stats(), joint.of(1).stats(), joint.stats()
    assert first is not None
    assert second is not None
    assert both is not None
    assert both.squared_norm == first.squared_norm + second.squared_norm
    assert both.variance == first.variance + second.variance
    other = JointNoise(10, 2)
    other.restore(joint.state())
    assert other.stats() == both
    with pytest.raises(ValueError, match="cannot have 9 numbers"):
        other.restore([*joint.state(), 0.0])


def shares_a_parameter(pair: Pair) -> None:
    pair.optimizers[1].add_param_group({"params": list(pair.critic.parameters())[:1]})
    pair.prepared()


def has_a_foreign_parameter(pair: Pair) -> None:
    pair.optimizers[1].add_param_group({"params": [nn.Parameter(torch.ones(2))]})
    pair.prepared()


def steps_without_backward(pair: Pair) -> None:
    for batch in pair.prepared().loader(real(), batch_size=12):
        loss_of(pair.critic(batch), 1.0).backward()
        pair.optimizers[1].step()


def adds_a_group(pair: Pair) -> None:
    for batch in pair.prepared().loader(real(), batch_size=12):
        pair.turn(batch, noise(0, 12))
        pair.model["more"] = nn.Linear(2, 2)
        pair.optimizers[0].add_param_group({"params": list(pair.model["more"].parameters())})


def gives_none(pair: Pair) -> None:
    kastor.init().prepare(pair.model, [])


def steps_none(pair: Pair) -> None:
    for batch in pair.prepared().loader(real(), batch_size=12):
        loss_of(pair.critic(batch), 1.0).backward()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (shares_a_parameter, r"Parameter critic.0.weight is in two optimizers"),
        (has_a_foreign_parameter, r"has parameters that the model has not"),
        (steps_without_backward, r"Optimizer 1 was stepped without a backward pass"),
        (adds_a_group, r"got other parameters than it had in prepare"),
        (gives_none, r"takes a torch.optim.Optimizer but was given a NoneType"),
        (steps_none, r"without optimizer.step\(\)"),
    ],
)
def test_says_what_to_change(script: Callable[[Pair], None], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        script(Pair())


def check(cluster: Cluster, outcome: dict[str, Any]) -> dict[int, list[dict[str, Any]]]:
    steps = checked_steps(line for pod in cluster.pods for line in cluster.lines(pod))
    assert outcome["kind"] == "COMPLETED", cluster.logs()
    assert outcome["lostOrRepeatedExamples"] == 0
    assert outcome["metric"] == 1.0, cluster.logs()
    assert cluster.operator.refusals == []
    return steps


@pytest.mark.integration
@pytest.mark.never_retried
@pytest.mark.parametrize(
    "options", [{}, pytest.param({"every": 3, "scaler": True}, marks=pytest.mark.nightly)], ids=["each", "every third"]
)
def test_goes_on_after_a_kill_between_two_optimizers(cluster: Cluster, options: dict[str, Any]) -> None:
    cluster.spec["goodput"]["batchSize"]["gradientAccumulation"] = False
    cluster.start("a", "c", script="gan.py", **options)
    cluster.start("b", script="gan.py", fault={"point": "between", "step": 30}, **options)
    cluster.ready("a", "b", "c")
    cluster.want(["a"], 32)
    cluster.trained("a")
    cluster.want(["a", "b", "c"], 16)
    assert cluster.ends("b") == -9
    cluster.want(["a", "c"], 16)
    cluster.trained("a")
    steps = check(cluster, cluster.completed())
    assert {lines[0]["replicas"] for lines in steps.values()} == {1, 2, 3}
    # The critic's update of the step that broke is not applied a second time.
    every = options.get("every", 1)
    for step, lines in steps.items():
        assert {tuple(line["updates"]) for line in lines} == {(step + 1, step // every + 1)}


@pytest.mark.integration
def test_says_that_passes_cannot_be_added_up(cluster: Cluster) -> None:
    cluster.start("a", script="gan.py")
    assert cluster.ends("a") != 0
    assert "gradientAccumulation to false" in cluster.log("a")
