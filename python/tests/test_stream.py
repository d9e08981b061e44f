"""Data in shards that are read from their beginning on."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import kastor.torch as kastor  # noqa: E402
from kastor.errors import UsageError  # noqa: E402
from kastor.torch.order import order_by  # noqa: E402

LENGTHS = [30, 5, 45]


class Shard:
    """Shard that counts what was read and passed over."""

    def __init__(self, number: int, length: int, skips: bool = False) -> None:
        self.number, self.length, self.at, self.read = number, length, 0, 0
        if skips:
            self.skip = self._skip

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.at >= self.length:
            raise StopIteration
        self.at += 1
        self.read += 1
        return 1000 * self.number + self.at - 1

    def _skip(self, n: int) -> None:
        self.at += n


class Shards:
    """Shards that were opened, in order."""

    def __init__(self, lengths: list[int], skips: bool = False) -> None:
        self.lengths, self.skips, self.opened = lengths, skips, list[Shard]()

    def __call__(self, number: int) -> Shard:
        self.opened.append(Shard(number, self.lengths[number], self.skips))
        return self.opened[-1]


def value(example: int) -> int:
    for shard, length in enumerate(LENGTHS):
        if example < length:
            return 1000 * shard + example
        example -= length
    raise IndexError


def test_reads_on_and_opens_anew_to_go_back() -> None:
    shards = Shards(LENGTHS)
    stream = kastor.Stream(shards, LENGTHS)
    assert len(stream) == 80
    # Shares of the second of two replicas, then those of a step that is taken again.
    for example in [*range(4, 8), *range(12, 16), *range(28, 40), *range(12, 16)]:
        assert stream[example] == value(example)
    assert [shard.number for shard in shards.opened] == [0, 1, 2, 0]
    assert [shard.read for shard in shards.opened] == [30, 5, 5, 16]


def test_passes_over_what_others_train_on_at_once_where_a_shard_can() -> None:
    shards = Shards(LENGTHS, skips=True)
    stream = kastor.Stream(shards, LENGTHS)
    for example in (5, 20, 21, 34, 79):
        assert stream[example] == value(example)
    assert [shard.read for shard in shards.opened] == [3, 1, 1]


@pytest.mark.parametrize("shuffle", [True, False])
def test_an_epoch_is_shard_after_shard(shuffle: bool) -> None:
    stream = kastor.Stream(Shards(LENGTHS), LENGTHS)
    order = order_by(None, stream, shuffle, seed=3)
    seen = set()
    for epoch in range(6):
        whole = order.between(epoch, 0, 80)
        assert sorted(whole) == list(range(80))
        assert np.array_equal(np.concatenate([order.between(epoch, a, a + 8) for a in range(0, 80, 8)]), whole)
        shards = [value(example) // 1000 for example in whole]
        turns = [shard for n, shard in enumerate(shards) if n == 0 or shards[n - 1] != shard]
        assert sorted(turns) == [0, 1, 2]
        assert all(b == a + 1 for a, b, s, t in zip(whole, whole[1:], shards, shards[1:], strict=False) if s == t)
        seen.add(tuple(turns))
    assert len(seen) > 2 if shuffle else seen == {(0, 1, 2)}


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_trains_on_each_example_once(workers: int) -> None:
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    job = kastor.init()
    job.prepare(model, optimizer)
    loader = job.loader(kastor.Stream(Shards(LENGTHS), LENGTHS), batch_size=8, num_workers=workers)
    seen = []
    for _ in job.epochs(2):
        for batch in loader:
            seen += batch.tolist()
            model(batch[:, None].float()).mean().backward()
            optimizer.step()
    job.finish()
    assert sorted(seen) == sorted(2 * [value(example) for example in range(80)])


def test_a_worker_opens_shards_of_its_own() -> None:
    stream = kastor.Stream(range_of, LENGTHS)
    assert stream[3] == 3
    assert pickle.loads(pickle.dumps(stream))[1] == 1


@pytest.mark.slow
def test_a_worker_that_is_forked_does_not_read_on_in_what_its_parent_has_open(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_text("".join(f"{n}\n" for n in range(20_000)))
    stream = kastor.Stream(lambda _: (int(line) for line in path.open()), [20_000])
    assert [stream[n] for n in range(10)] == list(range(10))
    loader = torch.utils.data.DataLoader(stream, batch_size=100, num_workers=2)
    assert torch.cat(list(loader)).tolist() == list(range(20_000))


def range_of(shard: int) -> range:
    return range(LENGTHS[shard])


def has_no_shard() -> None:
    kastor.Stream(range, [])


def has_an_empty_shard() -> None:
    kastor.Stream(range, [3, 0])


def is_shorter_than_it_says() -> None:
    stream = kastor.Stream(lambda _: range(3), [4])
    assert [stream[n] for n in range(4)]


def is_longer_than_it_says() -> None:
    stream = kastor.Stream(lambda _: range(5), [4])
    assert [stream[n] for n in range(4)]


def comes_with_a_sampler() -> None:
    stream = kastor.Stream(range_of, LENGTHS)
    kastor.init().loader(stream, batch_size=8, sampler=torch.utils.data.SequentialSampler(stream))


def comes_without_lengths() -> None:
    kastor.init().loader(iter(range(100)), batch_size=8)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (has_no_shard, r"needs shards of 1 example or more, not of \[\]"),
        (has_an_empty_shard, r"not of \[3, 0\]"),
        (is_shorter_than_it_says, r"Shard 0 ended before its 4 examples"),
        (is_longer_than_it_says, r"Shard 0 has more than its 4 examples"),
        (comes_with_a_sampler, r"leave sampler out"),
        (comes_without_lengths, r"make a kastor.torch.Stream with the lengths of its shards"),
    ],
)
def test_says_what_to_change(script: Callable[[], None], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        script()
