"""Situations of real scripts: trainings by a job, which may be of plain PyTorch with the batches of an elastic one."""

import copy
import functools
import hashlib
import json
import os
import tempfile
import warnings
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import kastor.torch as kastor
from kastor.protocol import BatchPlan
from kastor.sampler import ElasticSampler, order_of

EXAMPLES, BATCH, EPOCHS = 64, 16, 2
SITUATIONS = {}


class Plain:
    """Job of plain PyTorch, with the batches that an elastic one gives to one replica."""

    progress = 0.0

    def prepare(self, *parts, **others):
        pass

    def loader(self, data, batch_size):
        self._loader = torch.utils.data.DataLoader(data, batch_sampler=_Batches(len(data), batch_size))
        self._all = iter(self._loader)
        return _Epoch(self._all, len(data) // batch_size)

    def epochs(self, number):
        yield from range(number)

    def rank0(self, function, *arguments):
        return function(*arguments)

    def average(self, value, weight=1.0):
        return value

    def finish(self, **metrics):
        pass


class _Batches:
    def __init__(self, examples, batch_size):
        self._sampler, self._size = ElasticSampler(order_of(examples)), batch_size

    def __iter__(self):
        at = 0
        while True:
            yield self._sampler.take(at, BatchPlan(self._size), 1, 0, 0).examples.tolist()
            at += self._size


class _Epoch:
    def __init__(self, batches, number):
        self._batches, self._number = batches, number

    def __iter__(self):
        for _ in range(self._number):
            yield next(self._batches)


def situation(name):
    """Adds a training to the table."""

    def add(train):
        SITUATIONS[name] = train
        return train

    return add


def examples(kind="pairs"):
    g = torch.Generator().manual_seed(3)
    x, y = torch.randn(EXAMPLES, 8, generator=g), torch.randint(0, 3, (EXAMPLES,), generator=g)
    if kind == "words":
        return torch.utils.data.TensorDataset(torch.randint(0, 20, (EXAMPLES, 6), generator=g), y)
    return torch.utils.data.TensorDataset(x, y)


def network(*middle, width=16):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), *middle, nn.Linear(width, 3))


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def train(job, model, optimizer, scheduler=None, loss=None, data=None, forward=None, after=None, batch=BATCH, **others):
    """Trains as most scripts do; what a situation changes is given."""
    forward = forward or model
    job.prepare(model, optimizer, scheduler, **others)
    loader = job.loader(data or examples(), batch_size=batch)
    for _ in job.epochs(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            (loss(x, y) if loss else F.cross_entropy(forward(x), y)).backward()
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
            if after:
                after()
    return model


@situation("tied weights")
def tied(job):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
    model[2].weight = model[0].weight
    return train(job, model, sgd(model))


@situation("parameters that no loss reaches")
def unused(job):
    model = nn.ModuleDict({"used": network(), "unused": nn.Linear(4, 4)})
    return train(job, model, sgd(model), forward=model["used"])


@situation("parameters that a loss reaches now and then")
def now_and_then(job):
    model = nn.ModuleDict({"a": network(), "b": network()})
    turns = iter(range(10**6))

    def forward(x):
        # By the step, so that all replicas take the same branch.
        return model["ab"[(next(turns) if isinstance(job, Plain) else job.step) % 2]](x)

    return train(job, model, torch.optim.SGD(model.parameters(), lr=0.1), forward=forward)


@situation("gradient checkpointing")
def checkpointing(job):
    model = network(nn.Linear(16, 16), nn.ReLU())
    return train(job, model, sgd(model), forward=lambda x: model[3:](checkpoint(model[:3], x, use_reentrant=False)))


@situation("reentrant gradient checkpointing")
def reentrant(job):
    model = network(nn.Linear(16, 16), nn.ReLU())
    return train(
        job,
        model,
        sgd(model),
        forward=lambda x: model[3:](checkpoint(model[:3], x.requires_grad_(), use_reentrant=True)),
    )


@situation("a gradient penalty")
def penalty(job):
    model = network()

    def loss(x, y):
        x.requires_grad_()
        found = F.cross_entropy(model(x), y)
        (slope,) = torch.autograd.grad(found, x, create_graph=True)
        return found + slope.square().sum()

    return train(job, model, sgd(model), loss=loss)


@situation("several losses, added")
def several_losses(job):
    model = nn.ModuleDict({"trunk": network(), "head": nn.Linear(3, 1)})

    def loss(x, y):
        logits = model["trunk"](x)
        return F.cross_entropy(logits, y) + 0.3 * model["head"](logits).square().mean()

    return train(job, model, sgd(model), loss=loss)


@situation("bf16 by autocast")
def autocast(job):
    model = network()

    def loss(x, y):
        with torch.autocast("cpu", torch.bfloat16):
            return F.cross_entropy(model(x), y)

    return train(job, model, sgd(model), loss=loss)


@situation("bf16 parameters")
def bf16(job):
    model = network().to(torch.bfloat16)
    return train(job, model, sgd(model), forward=lambda x: model(x.to(torch.bfloat16)).float())


@situation("float64 parameters")
def float64(job):
    model = network().double()
    return train(job, model, sgd(model), forward=lambda x: model(x.double()))


@situation("a rate that is a tensor")
def tensor_rate(job):
    model = network()
    return train(job, model, torch.optim.Adam(model.parameters(), lr=torch.tensor(0.01)))


@situation("a rate that the script sets")
def own_rate(job):
    model = network()
    optimizer = sgd(model)

    def after():
        for group in optimizer.param_groups:
            group["lr"] *= 0.9

    return train(job, model, optimizer, after=after)


@situation("groups with rates of their own")
def groups(job):
    model = network()
    optimizer = torch.optim.AdamW(
        [{"params": model[0].parameters(), "lr": 0.001}, {"params": model[2].parameters(), "weight_decay": 0.1}],
        lr=0.01,
    )
    return train(job, model, optimizer)


@situation("a group that is added amid the training")
def added(job):
    model = network()
    optimizer = torch.optim.SGD(model[0].parameters(), lr=0.1)
    job.prepare(model, optimizer)
    loader = job.loader(examples(), batch_size=BATCH)
    for epoch in job.epochs(EPOCHS):
        if epoch == 1 and len(optimizer.param_groups) == 1:
            optimizer.add_param_group({"params": model[2].parameters(), "lr": 0.01})
        for x, y in loader:
            optimizer.zero_grad()
            model[2].zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    return model


@situation("layers that are unfrozen one by one")
def unfreezing(job):
    model = network()
    model[0].requires_grad_(False)
    optimizer = sgd(model)
    job.prepare(model, optimizer)
    loader = job.loader(examples(), batch_size=BATCH)
    for epoch in job.epochs(EPOCHS):
        model[0].requires_grad_(epoch >= 1)
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    return model


@situation("spectral norm")
def spectral(job):
    model = network()
    nn.utils.parametrizations.spectral_norm(model[2])
    return train(job, model, sgd(model))


@situation("weight norm")
def weight_norm(job):
    model = network()
    nn.utils.parametrizations.weight_norm(model[2])
    return train(job, model, sgd(model))


@situation("BatchNorm")
def batch_norm(job):
    model = network(nn.BatchNorm1d(16))
    return train(job, model, sgd(model))


@situation("LayerNorm and GroupNorm")
def norms(job):
    model = network(nn.LayerNorm(16), nn.GroupNorm(4, 16))
    return train(job, model, sgd(model))


@situation("a recurrent network")
def recurrent(job):
    model = nn.ModuleDict(
        {"words": nn.Embedding(20, 8, padding_idx=0), "lstm": nn.LSTM(8, 16), "head": nn.Linear(16, 3)}
    )
    forward = lambda x: model["head"](model["lstm"](model["words"](x).transpose(0, 1))[0][-1])  # noqa: E731
    return train(job, model, sgd(model), forward=forward, data=examples("words"))


@situation("a transformer")
def transformer(job):
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    model = nn.ModuleDict({"words": nn.Embedding(20, 8), "layer": layer, "head": nn.Linear(8, 3)})
    forward = lambda x: model["head"](model["layer"](model["words"](x)).mean(1))  # noqa: E731
    return train(job, model, torch.optim.AdamW(model.parameters(), lr=0.01), forward=forward, data=examples("words"))


@situation("torch.compile")
def compiled(job):
    model = network()
    return train(job, model, sgd(model), forward=torch.compile(model, backend="eager"))


@situation("a hook on gradients")
def hooked(job):
    model = network()
    for parameter in model.parameters():
        parameter.register_hook(lambda gradient: gradient.clamp(-0.01, 0.01))
    return train(job, model, sgd(model))


@situation("clipping by norm and by value")
def clipped(job):
    model = network()
    optimizer = sgd(model)
    job.prepare(model, optimizer)
    loader = job.loader(examples(), batch_size=BATCH)
    for epoch in job.epochs(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            if epoch:
                nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            else:
                nn.utils.clip_grad_value_(model.parameters(), 0.01)
            optimizer.step()
    return model


@situation("model.zero_grad() after the step")
def cleared_after(job):
    model = network()
    optimizer = sgd(model)
    job.prepare(model, optimizer)
    loader = job.loader(examples(), batch_size=BATCH)
    for _ in job.epochs(EPOCHS):
        for x, y in loader:
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            model.zero_grad(set_to_none=False)
    return model


@situation("a step that takes a closure")
def closure(job):
    model = network()
    optimizer = sgd(model)
    job.prepare(model, optimizer)
    loader = job.loader(examples(), batch_size=BATCH)
    for _ in job.epochs(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            found = F.cross_entropy(model(x), y)
            found.backward()
            optimizer.step(lambda found=found: found)
    return model


@situation("a GradScaler")
def scaled(job):
    model = network()
    optimizer, scaler = sgd(model), torch.amp.GradScaler("cpu", init_scale=64.0)
    job.prepare(model, optimizer, scaler=scaler)
    loader = job.loader(examples(), batch_size=BATCH)
    for _ in job.epochs(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            scaler.scale(F.cross_entropy(model(x), y)).backward()
            scaler.step(optimizer)
            scaler.update()
    return model


@situation("an average of weights")
def averaged(job):
    model = network()
    average = torch.optim.swa_utils.AveragedModel(model)
    train(job, model, sgd(model), after=lambda: average.update_parameters(model), average=average)
    return nn.ModuleList([model, average])


@situation("a target network, copied now and then")
def target(job):
    model = network()
    held = copy.deepcopy(model)

    def loss(x, y):
        return F.cross_entropy(model(x), y) + (model(x) - held(x).detach()).square().mean()

    train(job, model, sgd(model), loss=loss, after=lambda: held.load_state_dict(model.state_dict()), held=held)
    return nn.ModuleList([model, held])


@situation("a schedule by steps")
def one_cycle(job):
    model = network()
    optimizer = sgd(model)
    return train(job, model, optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.2, total_steps=9))


@situation("a schedule of several")
def joined(job):
    model = network()
    optimizer = sgd(model)
    schedules = torch.optim.lr_scheduler
    warm, then = schedules.LinearLR(optimizer, 0.1), schedules.ExponentialLR(optimizer, 0.9)
    return train(job, model, optimizer, schedules.SequentialLR(optimizer, [warm, then], [3]))


@situation("a schedule that follows a metric")
def plateau(job):
    model = network()
    optimizer = sgd(model)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    job.prepare(model, optimizer, scheduler)
    loader = job.loader(examples(), batch_size=BATCH)
    for _ in job.epochs(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        scheduler.step(job.average(1.0))
    return model


@situation("a list of examples")
def listed(job):
    model = network()
    return train(job, model, sgd(model), data=list(examples()))


@situation("a part of a data set")
def subset(job):
    model = network()
    more = torch.utils.data.ConcatDataset([examples(), examples()])
    return train(job, model, sgd(model), data=torch.utils.data.Subset(more, range(32, 32 + EXAMPLES)))


@situation("accumulation of the script's, set to 1")
def accumulated(job):
    # The one line: of 4 passes of 4 examples.
    batch, accumulation = 4 * 4, 1
    model = network()
    optimizer = sgd(model)
    job.prepare(model, optimizer)
    loader = job.loader(examples(), batch_size=batch)
    for _ in job.epochs(EPOCHS):
        for number, (x, y) in enumerate(loader):
            (F.cross_entropy(model(x), y) / accumulation).backward()
            if (number + 1) % accumulation == 0:
                optimizer.step()
                optimizer.zero_grad()
    return model


@situation("an evaluation amid the loop over batches")
def evaluating(job):
    model = network()

    def after():
        model.eval()
        with torch.inference_mode():
            model(torch.zeros(4, 8))
        model.train()

    return train(job, model, sgd(model), after=after)


@situation("torch.save by one replica")
def saved(job):
    model = network()
    with tempfile.TemporaryDirectory() as folder:
        train(
            job,
            model,
            sgd(model),
            after=lambda: job.rank0(torch.save, model.state_dict(), str(Path(folder, "model.pt"))),
        )
    return model


for _name, _make in {
    "SGD with Nesterov's momentum": functools.partial(torch.optim.SGD, lr=0.1, momentum=0.9, nesterov=True),
    "a fused optimizer": functools.partial(torch.optim.AdamW, lr=0.01, fused=True),
    "Adadelta": functools.partial(torch.optim.Adadelta, lr=1.0),
    "RMSprop": functools.partial(torch.optim.RMSprop, lr=0.01),
}.items():

    @situation(_name)
    def optimized(job, make=_make):
        model = network()
        return train(job, model, make(model.parameters()))


def run(name, job):
    """State after the training of a situation."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = SITUATIONS[name](job)
    job.finish()
    return model.state_dict()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    options = json.loads(os.environ["OPTIONS"])
    found = run(options["name"], kastor.init(drift="fail"))
    digest = hashlib.sha256(b"".join(t.float().numpy().tobytes() for t in found.values())).hexdigest()
    print(json.dumps({"digest": digest}), flush=True)
