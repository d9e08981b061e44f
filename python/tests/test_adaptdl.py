"""Names of AdaptDL's, as scripts that were written for it use them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Cluster
from step_records import checked_steps

torch: Any = pytest.importorskip("torch")
F: Any = torch.nn.functional


import kastor.compat.adaptdl as adl  # noqa: E402
import kastor.torch as kastor  # noqa: E402
from kastor.compat.adaptdl.torch._metrics import _metrics_state  # noqa: E402
from kastor.compat.adaptdl.torch.iterator import AdaptiveBPTTIterator, TextChunks  # noqa: E402
from kastor.compat.adaptdl.torch.scaling_rules import LEGWScale, SqrtScale  # noqa: E402
from kastor.compat.adaptdl.torch.script import Script, script  # noqa: E402
from kastor.errors import UsageError  # noqa: E402
from kastor.sampler import order_of  # noqa: E402


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes each test a process of its own, for the names."""
    for name in ("KASTOR_OPERATOR_URL", "KASTOR_JOB", "ADAPTDL_SHARE_PATH", "ADAPTDL_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    before = dict(vars(script))
    vars(script).update(vars(Script()))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    yield
    vars(script).update(before)


class Scalars(dict[str, float]):
    """Writer that keeps what it is given."""

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self[tag] = value


def points(n: int = 300) -> Any:
    x = torch.randn(n, 4)
    return torch.utils.data.TensorDataset(x, (x[:, 0] > 0).long())


def prepared(**options: Any) -> tuple[Any, Any]:
    adl.init_process_group("gloo")
    net = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    return adl.AdaptiveDataParallel(net, optimizer, **options), optimizer


def train(model: Any, optimizer: Any, loader: Any) -> int:
    model.train()
    examples = 0
    for inputs, targets in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
        examples += len(inputs)
    return examples


@pytest.mark.slow
def test_trains_and_validates_like_adaptdl() -> None:
    with pytest.raises(UsageError, match="init_process_group"):
        adl.current_epoch()
    data = points()
    adl.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    train = adl.AdaptiveDataLoader(data, batch_size=20, shuffle=True, drop_last=True)
    train.autoscale_batch_size(1000, local_bsz_bounds=(8, 64), gradient_accumulation=True)
    valid = adl.AdaptiveDataLoader(data, batch_size=50)
    net = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    model = adl.AdaptiveDataParallel(net, optimizer, torch.optim.lr_scheduler.MultiStepLR(optimizer, [30]))
    epochs = []
    for epoch in adl.remaining_epochs_until(3):
        epochs.append((epoch, adl.current_epoch(), adl.finished_epochs()))
        for inputs, targets in train:
            optimizer.zero_grad()
            F.cross_entropy(model(inputs), targets).backward()
            assert not model.adascale.is_accumulation_step()
            optimizer.step()
        stats = adl.Accumulator()
        with torch.no_grad():
            for inputs, targets in valid:
                stats["correct"] += (model(inputs).argmax(1) == targets).sum().item()
                stats["total"] += len(targets)
        with stats.synchronized():
            accuracy = stats["correct"] / stats["total"]
            assert stats["total"] == 300
    adl.finish(accuracy=accuracy)
    assert epochs == [(0, 0, 0), (1, 1, 1), (2, 2, 2)]
    assert (adl.current_epoch(), adl.finished_epochs()) == (None, 3)
    assert accuracy > 0.9
    assert (len(train), train.current_batch_size, train.current_local_bsz, train.accumulation_steps) == (15, 20, 20, 0)
    assert model._state.model is model.module is net
    assert list(model.state_dict()) == ["module.weight", "module.bias"]

    written = Scalars()
    train.to_tensorboard(written, 2, tag_prefix="data")
    model.to_tensorboard(written, 2, tag_prefix="model/")
    assert written == {
        "data/Total_Batch_Size": 20,
        "data/Local_Batch_Size": 20,
        "data/Accumulation_Steps": 0,
        "model/Gain": 1,
        "model/Learning_Rate_Factor": 1,
        "model/Accum_Scale": 1,
        "model/Progress": 45,
    }
    assert _metrics_state().progress == 45


def test_the_environment_says_what_there_is_and_refuses_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    env = adl.env
    assert (env.replica_rank(), env.num_replicas(), env.num_nodes(), env.num_restarts()) == (0, 1, 1, 0)
    assert (env.job_id(), env.checkpoint_path(), env.from_ray(), env.supervisor_url()) == ("alone", None, False, None)
    with pytest.raises(UsageError, match="ADAPTDL_SHARE_PATH"):
        env.share_path()
    with pytest.raises(UsageError, match="none of them is a master"):
        env.master_addr()
    monkeypatch.setenv("ADAPTDL_SHARE_PATH", "/data")
    monkeypatch.setenv("ADAPTDL_TENSORBOARD_LOGDIR", "/logs")
    monkeypatch.setenv("KASTOR_NAMESPACE", "team-a")
    monkeypatch.setenv("KASTOR_JOB", "cnn")
    assert (env.share_path(), env.job_id(), adl.get_tensorboard_dir()) == ("/data", "team-a/cnn", "/logs/team-a/cnn")


def test_what_cannot_be_as_it_was_is_refused_or_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(UsageError, match="kastor run --replicas"):
        adl.init_process_group("gloo", init_method="tcp://localhost:1234", world_size=2, rank=1)
    with pytest.raises(UsageError, match="it samples"):
        _ = adl.torch.ElasticSampler
    with pytest.raises(UsageError, match="LEGWScale"):
        LEGWScale(1, 100)
    with pytest.raises(AttributeError):
        _ = adl.nonsense
    model, optimizer = prepared(scaling_rule=SqrtScale())
    assert "SquareRoot" in caplog.text
    with pytest.raises(UsageError, match="a name of its own"):
        adl.AdaptiveDataParallel(model.module, optimizer)
    for _ in adl.remaining_epochs_until(1):
        train(model, optimizer, adl.AdaptiveDataLoader(points(40), batch_size=20))
    with pytest.raises(UsageError, match="Make all models before"):
        adl.AdaptiveDataParallel(model.module, optimizer, name="another")
    with pytest.raises(UsageError, match="one loop of all epochs"):
        next(iter(adl.remaining_epochs_until(2)))


def test_a_loader_may_be_made_anew_in_each_epoch_with_other_data_of_the_same_length() -> None:
    model, optimizer = prepared()
    examples = []
    for epoch in adl.remaining_epochs_until(3):
        loader = adl.AdaptiveDataLoader(points(40 if epoch < 2 else 60), batch_size=20, shuffle=True)
        if epoch < 2:
            examples.append(train(model, optimizer, loader))
            continue
        with pytest.raises(UsageError, match="A loader of 60 examples"):
            train(model, optimizer, loader)
        break
    assert examples == [40, 40]


def test_a_second_loader_evaluates_whole_batches_in_evaluation_mode() -> None:
    model, optimizer = prepared()
    loader, test = (adl.AdaptiveDataLoader(points(n), batch_size=20) for n in (60, 50))
    for epoch in adl.remaining_epochs_until(2):
        train(model, optimizer, loader)
        model.eval()
        assert [len(inputs) for inputs, _ in test] == [20, 20, 10]
        if epoch == 1:
            batches: Any = iter(test)
            inputs, targets = next(batches)
            F.cross_entropy(model(inputs), targets).backward()
            with pytest.raises(UsageError, match="taken for an evaluation"):
                optimizer.step()
            batches.close()
    assert loader.training and not test.training


def test_an_accumulator_adds_and_keeps_its_sums() -> None:
    adl.init_process_group("gloo")
    stats = adl.Accumulator(total=10)
    stats.update(total=1, right=2)
    stats += {"right": 1}
    stats.subtract(total=3)
    with stats.synchronized():
        assert stats == {"total": 8, "right": 3}
        stats["accuracy"] = stats["right"] / stats["total"]
        with stats.synchronized():
            assert stats["accuracy"] == 3 / 8
    assert stats["total"] == 0
    stats["right"] += 1
    with stats.synchronized():
        assert (stats["right"], stats["total"]) == (4, 8)
        assert repr(stats) == repr(dict(stats))


@pytest.mark.never_retried
def test_two_models_train_as_by_several_optimizers() -> None:
    def turn(critic: Any, generator: Any, optimizers: Any, real: Any) -> None:
        fake = generator(real.flip(0))
        critic.zero_grad()
        F.softplus(-critic(real)).mean().backward()
        F.softplus(critic(fake.detach())).mean().backward()
        optimizers[0].step()
        generator.zero_grad()
        F.softplus(-critic(fake)).mean().backward()
        optimizers[1].step()

    data = torch.randn(60, 3)
    pairs = []
    for _ in range(2):
        torch.manual_seed(2)
        nets = torch.nn.Linear(3, 1), torch.nn.Linear(3, 3)
        pairs.append((nets, [torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9) for net in nets]))
    (nets, optimizers), (others, plain) = pairs

    adl.init_process_group("gloo")
    # Older scripts give the name in the place of the scaler.
    critic = adl.AdaptiveDataParallel(nets[0], optimizers[0], None, "critic")
    generator = adl.AdaptiveDataParallel(nets[1], optimizers[1], name="generator")
    loader = adl.AdaptiveDataLoader(data, batch_size=12)
    for _ in adl.remaining_epochs_until(2):
        for real in loader:
            turn(critic, generator, optimizers, real)
    job = kastor.init()
    job.prepare(torch.nn.ModuleDict({"critic": others[0], "generator": others[1]}), plain)
    for real in job.batches(data, 12, epochs=2, shuffle=False):
        turn(others[0], others[1], plain, real)
    for net, other in zip(nets, others, strict=True):
        assert torch.equal(net.weight, other.weight)


@pytest.mark.parametrize(("tokens", "columns"), [(101, 4), (100, 4), (97, 4), (23, 7), (6, 3), (2, 1)])
def test_each_position_of_a_text_is_in_one_chunk_and_columns_go_on(tokens: int, columns: int) -> None:
    chunks = TextChunks(torch.arange(tokens), 5, columns, 0, -100)
    found = []
    for place in range(len(chunks)):
        text, target = chunks[place]
        assert len(text) == len(target) == 5
        there = target != -100
        assert torch.equal(text[there] + 1, target[there])
        found += target[there].tolist()
        if place + columns < len(chunks):
            assert chunks[place + columns][0][0] == text[-1] + 1
    assert sorted(found) == list(range(1, tokens))


def test_a_text_of_torchtext_is_read_by_its_field() -> None:
    words = ["a", "b", "c"] * 9
    numbers = {"<pad>": 1, "a": 2, "b": 3, "c": 4}
    field = SimpleNamespace(
        pad_token="<pad>",
        vocab=SimpleNamespace(stoi=numbers),
        numericalize=lambda texts: torch.tensor([[numbers[word] for word in text] for text in texts]).t(),
    )
    text = [SimpleNamespace(text=words)]
    dataset = type("Text", (list,), {"fields": {"text": field}})(text)
    adl.init_process_group("gloo")
    batches = AdaptiveBPTTIterator(dataset, batch_size=4, bptt_len=4, local_bsz_bounds=(1, 2))
    with torch.no_grad():
        found = list(batches)
    assert [tuple(batch.text.shape) for batch in found] == [(4, 4), (4, 3)]
    assert sum((batch.target != 1).sum().item() for batch in found) == 26
    assert found[0].text[:, 0].tolist() == [2, 3, 4, 2]
    with pytest.raises(UsageError, match="repeat=True"):
        AdaptiveBPTTIterator(dataset, 4, 4, repeat=True)
    with pytest.raises(UsageError, match="at least 2 tokens"):
        AdaptiveBPTTIterator(torch.arange(1), 4, 4)


@pytest.mark.integration
@pytest.mark.never_retried
def test_a_text_is_trained_on_once_by_any_number_of_replicas(cluster: Cluster) -> None:
    cluster.spec["goodput"]["batchSize"] |= {"initial": 16, "max": 64}
    tokens, epochs = 5 * 16 * 30 - 2, 6
    cluster.start("a", "b", "c", script="adaptdl_text.py", tokens=tokens, epochs=epochs)
    cluster.ready("a", "b", "c")
    cluster.want(["a"], 16)
    cluster.trained("a", 8)
    cluster.want(["a", "b"], 16)
    cluster.trained("a", 15)
    cluster.pods["b"].kill()
    cluster.ends("b")
    cluster.want(["a"], 16)
    cluster.trained("a", 5)
    cluster.want(["a", "c"], 4, 1)
    cluster.trained("a", 5)

    outcome = cluster.completed()
    assert outcome["kind"] == "COMPLETED", cluster.logs()
    assert outcome["lostOrRepeatedExamples"] == 0
    assert cluster.operator.refusals == []

    # What the scripts wrote down are chunks by their place in the text.
    chunks = TextChunks(torch.arange(tokens), 5, 16, 0, -100)
    places = {int(chunks[place][0][0]) // 5: place for place in range(len(chunks))}
    lines = [line for pod in "abc" for line in cluster.lines(pod)]
    # A line is written in the last pass of a step, and has the examples of that pass.
    for line in lines:
        line["examples"] = [places[chunk] for chunk in line["examples"]]
    by_one_pass = [line for line in lines if line["batches"][2] == 0]
    first_of_several = min(line["step"] for line in lines if line["batches"][2])
    steps = checked_steps(
        [x for x in by_one_pass if x["step"] < first_of_several], order_of(len(chunks), shuffle=False)
    )
    assert {len(members) for members in steps.values()} >= {1, 2}
    assert {(line["replicas"], line["nodes"], *line["batches"]) for line in lines} >= {
        (1, 1, 16, 16, 0),
        (2, 2, 32, 16, 0),
        (2, 2, 16, 4, 1),
    }
    assert max(line["last"] for line in lines) == tokens - 1
    assert all(found == wanted for found, wanted in (line["gains"] for line in lines))
    assert any(line["gains"][0] > 1 for line in lines)

    # Sums have the batches of all replicas once: neither the rehearsal nor what was taken again.
    batches = {
        line["step"]: (line["epoch"], line["batches"][0]) for line in sorted(lines, key=lambda x: x["generation"])
    }
    printed = [json.loads(line) for line in cluster.log("a").splitlines() if line.startswith('{"epoch"')]
    assert [each["epoch"] for each in printed] == list(range(epochs))
    killed_in = max(line["epoch"] for line in cluster.lines("b"))
    own = [(line["epoch"], line["batches"][1] * (line["batches"][2] + 1)) for line in cluster.lines("a")]
    for each in printed:
        assert each["of rank 0"] == sum(size for epoch, size in own if epoch == each["epoch"])
        assert sum(value for name, value in each.items() if name.startswith("of rank")) == each["chunks"]
        if each["epoch"] != killed_in:
            assert each["chunks"] == sum(size for epoch, size in batches.values() if epoch == each["epoch"])
    assert "of rank 1" in printed[-1]
