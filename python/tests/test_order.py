"""Order of examples, audit and noise: laws, and values that the Java agent's classes gave."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest

from kastor.audit import AuditDigest, _mix, mix
from kastor.noise import JointNoise, NoiseScaleEstimator, learning_rate_factor
from kastor.protocol import BatchPlan, GradientStats
from kastor.sampler import Computed, ElasticSampler, order_of

pytestmark = pytest.mark.never_retried


@pytest.mark.parametrize(
    ("value", "mixed"),
    [
        (0, 0),
        (1, 6238072747940578789),
        (2, 15839785061582574730),
        (0x0123456789ABCDEF, 12880392674509918508),
        (2**64 - 1, 13029008266876403067),
    ],
)
def test_mixes_as_java_does(value: int, mixed: int) -> None:
    assert int(mix(np.array([value], dtype=np.uint64))[0]) == mixed
    assert _mix(value) == mixed


@pytest.mark.parametrize(
    ("first", "examples", "total"),
    [
        (0, [0], 12035550249420947055),
        (1000, [5, 3, 9, 1], 10169434383536427351),
        (123456789012, [2147483646, 0, 7], 10910310279232723195),
        (4096, [(i * 7919) % 1000 for i in range(1000)], 2475211718721302087),
    ],
)
def test_digests_as_java_does(first: int, examples: list[int], total: int) -> None:
    assert AuditDigest.of(first, np.array(examples)) == AuditDigest(len(examples), total)


def test_digest_takes_any_grouping_and_sees_every_change() -> None:
    examples = np.arange(100)[::-1].copy()
    whole = AuditDigest.of(50, examples)
    assert AuditDigest.of(50, examples[:30]) + AuditDigest.of(80, examples[30:]) == whole
    assert whole.lost_or_repeated(whole) == 0
    assert AuditDigest.of(50, examples[1:]).lost_or_repeated(whole) == 1
    swapped = examples.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    assert AuditDigest.of(50, swapped).lost_or_repeated(whole) == 2


def test_estimates_as_java_does() -> None:
    noise = NoiseScaleEstimator(32, 0.995)
    joint = JointNoise(32)
    for i in range(15):
        noise.observe(2 + i % 3, 3.1 + i * 0.25, 2.3 + i * 0.125, 64 + 32 * (i % 2))
    previous: tuple[np.ndarray, int] | None = None
    for i in range(15):
        now = np.array([1 + i, 2 - i, 0.5 * i])
        if previous is not None:
            distance = float(((now - previous[0]) ** 2).sum())
            noise.observe_pair(float(now @ previous[0]), distance, 32 + i, previous[1])
        previous = (now, 32 + i)
    assert noise.state() == pytest.approx([12.991313973590021, 0.513595865355078, 0.2382120446648783, 29.0], rel=1e-13)
    stats = noise.stats()
    assert stats is not None
    assert stats.squared_norm == pytest.approx(54.53676362950695, rel=1e-13)
    assert stats.gain(128) == pytest.approx(1.0293601621300716, rel=1e-13)
    joint.restore(noise.state())
    assert joint.gain(16) == pytest.approx(0.9633630091403014, rel=1e-13)


@pytest.mark.parametrize(("groups", "batch"), [(1, 32), (1, 128), (2, 32), (3, 96), (8, 256)])
def test_finds_known_statistics(groups: int, batch: int) -> None:
    # |G|^2 = 2, trace of the covariance of one example 400, so the noise scale is 200 examples.
    random, dimensions = np.random.default_rng(17), 200
    noise = NoiseScaleEstimator(32, 0.999999)
    spread = np.sqrt(400 / dimensions / (batch / groups))
    before: np.ndarray | None = None
    for _ in range(6000):
        each = np.sqrt(2 / dimensions) + spread * random.normal(size=(groups, dimensions))
        mean = each.mean(0)
        if groups > 1:
            noise.observe(groups, float((each**2).sum(1).mean()), float(mean @ mean), batch)
        elif before is not None:
            noise.observe_pair(float(mean @ before), float(((mean - before) ** 2).sum()), batch, batch)
        before = mean
    stats = noise.stats()
    assert stats is not None
    assert stats.squared_norm == pytest.approx(2, rel=0.06)
    assert stats.variance == pytest.approx(400 / 32, rel=0.06)


def test_noise_takes_the_least_batch_and_memory_and_small_values() -> None:
    noise = NoiseScaleEstimator(1, 0)
    for _ in range(10):
        noise.observe(2, 0.75, 0.5, 1)
    stats = noise.stats()
    assert stats is not None
    assert (stats.squared_norm, stats.variance) == (0.25, 0.25)
    with pytest.raises(ValueError, match="initial_batch must be at least 1 but is 0"):
        NoiseScaleEstimator(0)
    with pytest.raises(ValueError, match="smoothing must be at least 0 and below 1 but is 1"):
        NoiseScaleEstimator(1, 1)


def test_noise_is_observed_at_each_step_at_first_and_at_one_of_four_later() -> None:
    noise = NoiseScaleEstimator(32)
    due = []
    for step in range(1000):
        if noise.is_due(step):
            due.append(step)
            noise.observe(2, 3.0, 2.0, 32)
    assert due == [*range(400), *range(400, 1000, 4)]


def test_noise_ignores_a_step_that_overflowed_and_is_silent_at_first() -> None:
    noise = NoiseScaleEstimator(10, 0.999)
    for _ in range(9):
        noise.observe(4, 7, 4, 20)
        assert noise.stats() is None
    assert JointNoise(10).gain(5) == 0.5
    assert JointNoise(10).gain(20) == 1.0
    before = noise.state()
    noise.observe(2, float("inf"), float("nan"), 20)
    assert noise.state() == before
    noise.observe(4, 7, 4, 20)
    stats = noise.stats()
    assert stats is not None
    assert stats.squared_norm == pytest.approx(3)
    assert stats.variance == pytest.approx(2)
    with pytest.raises(ValueError, match="observe_pair"):
        noise.observe(1, 1, 1, 10)
    with pytest.raises(ValueError, match="4 numbers"):
        noise.restore([1.0])


def test_learning_rate_follows_the_batch() -> None:
    stats = GradientStats(1.0, 3.0, 32)
    assert learning_rate_factor("AdaScale", 4, stats) == pytest.approx(4 / 1.75)
    assert learning_rate_factor("AdaScale", 4, None) == 1
    assert learning_rate_factor("SquareRoot", 4, stats) == 2
    assert learning_rate_factor("Linear", 4, stats) == 4
    assert learning_rate_factor("None", 4, stats) == 1
    with pytest.raises(ValueError, match="AdaScale, SquareRoot"):
        learning_rate_factor("linear", 4, stats)


@pytest.mark.parametrize("shuffle", [True, False])
def test_every_plan_covers_each_position_once(shuffle: bool) -> None:
    sampler = ElasticSampler(order_of(37, seed=3, shuffle=shuffle))
    cursor, seen, digest = 0, Counter[int](), AuditDigest()
    for replicas, plan in [
        (1, BatchPlan(5)),
        (3, BatchPlan(2, 1)),
        (2, BatchPlan(20, 2)),
        (4, BatchPlan(1)),
        (1, BatchPlan(7)),
    ]:
        for rank in range(replicas):
            for number in range(plan.passes):
                take = sampler.take(cursor, plan, replicas, rank, number)
                seen.update(take.examples.tolist())
                digest += AuditDigest.of(take.first_position, take.examples)
        cursor += plan.global_batch_size(replicas)
    assert digest == sampler.expected(cursor)
    assert sum(seen.values()) == cursor
    assert set(seen.values()) <= {cursor // 37, cursor // 37 + 1}


def test_order_depends_on_seed_and_epoch_alone() -> None:
    # Fixed for ever: a checkpoint's cursor means these examples.
    order = [ElasticSampler(order_of(10, seed=s)).take(0, BatchPlan(20), 1, 0, 0).examples.tolist() for s in (0, 1)]
    assert order[0] == ElasticSampler(order_of(10, seed=0)).take(0, BatchPlan(20), 1, 0, 0).examples.tolist()
    assert order[0] != order[1]
    assert order[0][:10] != order[0][10:]
    assert sorted(order[0][:10]) == list(range(10))


@pytest.mark.parametrize(
    ("seed", "epoch", "order"),
    [
        (0, 0, [7, 0, 8, 2, 3, 1, 6, 9, 4, 5]),
        (0, 1, [0, 6, 5, 8, 2, 1, 3, 7, 4, 9]),
        (1, 0, [7, 4, 8, 6, 0, 2, 5, 1, 3, 9]),
        (7, 123456, [3, 2, 0, 6, 5, 9, 1, 7, 8, 4]),
        (-1, 0, [1, 0, 5, 4, 9, 7, 6, 3, 8, 2]),
    ],
)
def test_order_is_that_of_integer_arithmetic(seed: int, epoch: int, order: list[int]) -> None:
    # By Python's own integers, without NumPy. Fixed for ever: a checkpoint's cursor means these examples.
    sampler = ElasticSampler(order_of(10, seed))
    take = sampler.take(10 * epoch, BatchPlan(10), 1, 0, 0)
    assert (take.first_position, take.examples.tolist()) == (10 * epoch, order)
    assert sampler.take(10 * epoch + 4, BatchPlan(3), 1, 0, 0).examples.tolist() == order[4:7]


@pytest.mark.parametrize(
    ("rank", "number", "first"),
    [(0, 0, 100), (0, 1, 105), (0, 2, 110), (1, 0, 115), (2, 1, 135), (3, 2, 155)],
)
def test_passes_of_a_replica_are_neighbours(rank: int, number: int, first: int) -> None:
    # Four replicas of three passes of 5 from position 100 on: Java's agents take the same.
    take = ElasticSampler(order_of(1000, shuffle=False)).take(100, BatchPlan(5, 2), 4, rank, number)
    assert take.first_position == first
    assert take.examples.tolist() == list(range(first, first + 5))


@pytest.mark.parametrize("shuffle", [True, False])
def test_expects_what_lies_before_the_cursor_and_no_more(shuffle: bool) -> None:
    sampler = ElasticSampler(order_of(37, seed=3, shuffle=shuffle))
    digest = AuditDigest()
    for cursor in range(120):
        assert sampler.expected(cursor) == digest
        take = sampler.take(cursor, BatchPlan(1), 1, 0, 0)
        digest += AuditDigest.of(take.first_position, take.examples)


def test_epochs_are_whole_passes_over_the_data() -> None:
    sampler = ElasticSampler(order_of(37))
    assert [sampler.epoch(cursor) for cursor in (0, 36, 37, 73, 74)] == [0, 0, 1, 1, 2]


def test_refuses_what_has_no_place() -> None:
    sampler = ElasticSampler(order_of(10))
    with pytest.raises(ValueError, match="rank 2 of 2"):
        sampler.take(0, BatchPlan(1), 2, 2, 0)
    with pytest.raises(ValueError, match="pass 1 of 1"):
        sampler.take(0, BatchPlan(1), 1, 0, 1)
    with pytest.raises(ValueError, match="at least 1 example"):
        ElasticSampler(order_of(0))
    with pytest.raises(ValueError, match="atomicBatchSize"):
        BatchPlan(0)


@pytest.mark.parametrize("examples", [1, 2, 3, 5, 37, 64, 1000, 70_000])
def test_computed_order_is_a_permutation_of_each_epoch(examples: int) -> None:
    epochs = {}
    for seed, epoch in ((0, 0), (0, 1), (1, 0)):
        order = Computed(examples, seed).between(epoch, 0, examples)
        assert np.array_equal(np.sort(order), np.arange(examples))
        epochs[seed, epoch] = order.tolist()
    if examples >= 37:
        assert len({tuple(order) for order in epochs.values()}) == 3
    places = Computed(examples, 0)
    some = [places.between(1, at, min(at + 7, examples)).tolist() for at in range(0, examples, 7)][: 10_000 // 7]
    assert [i for part in some for i in part] == epochs[0, 1][: sum(map(len, some))]


def test_computed_order_is_that_of_integer_arithmetic() -> None:
    # By Python's own integers, without NumPy. Fixed for ever: a checkpoint's cursor means these examples.
    def mixed(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    gamma, examples, seed, epoch = 0x9E3779B97F4A7C15, 1000, 7, 3
    key = mixed(seed ^ mixed((epoch + gamma) % 2**64))

    def permuted(place: int) -> int:
        low, high = place % 32, place // 32
        for number in range(8):
            low, high = high, low ^ mixed((high + mixed((key + number * gamma) % 2**64)) % 2**64) % 32
        return low + 32 * high

    expected = []
    for place in range(examples):
        found = permuted(place)
        while found >= examples:
            found = permuted(found)
        expected.append(found)
    assert Computed(examples, seed).between(epoch, 0, examples).tolist() == expected


def test_computed_order_looks_drawn_at_random() -> None:
    # Of 1,000 permutations of 8: each example at each place 125 times, give or take 5 standard deviations.
    counts = np.zeros((8, 8))
    order = Computed(8, 11)
    for epoch in range(1000):
        counts[np.arange(8), order.between(epoch, 0, 8)] += 1
    assert abs(counts - 125).max() < 5 * np.sqrt(1000 / 8 * 7 / 8)
    # Neighbours of a long one are as far apart as those of numbers drawn at random: a third of its length.
    apart = np.abs(np.diff(Computed(10**9, 5).between(0, 0, 200_000)))
    assert apart.mean() == pytest.approx(10**9 / 3, rel=0.01)


def test_order_of_ten_thousand_million_examples_takes_little_memory() -> None:
    sampler = ElasticSampler(order_of(10**10, seed=3))
    plan = BatchPlan(512)
    tracemalloc.start()
    try:
        takes = [sampler.take(cursor, plan, 1, 0, 0) for cursor in (0, 512, 65_500, 10**10 - 256)]
        digest = sampler.expected(3_000_000)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert digest.count == 3_000_000
    assert most < 200 * 2**20
    drawn = np.concatenate([take.examples for take in takes])
    assert drawn.min() >= 0
    assert drawn.max() < 10**10
    assert len(np.unique(drawn[:-256])) == len(drawn) - 256
