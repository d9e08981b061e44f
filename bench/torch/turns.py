"""Training that takes steps with this client and under DistributedDataParallel in turns, for bench/pytorch overhead."""

import itertools
import json
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import kastor.torch as kastor

STEPS, BATCH, WARM = 12, 32, 400
options = json.loads(os.environ["OPTIONS"])


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(256, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 512, 0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.out = nn.Linear(128, 256)

    def forward(self, x):
        return self.out(self.layers(self.embedding(x)).mean(1))


def make():
    """Model, and a data set that it could learn."""
    torch.manual_seed(0)
    labels = torch.randint(0, 10, (2048,))
    if options["model"] == "mlp":
        sizes = [784, 1024, 1024, 512, 10]
        layers = [each for a, b in itertools.pairwise(sizes) for each in (nn.Linear(a, b), nn.ReLU())]
        return nn.Sequential(*layers[:-1]), TensorDataset(torch.randn(2048, 784), labels)
    if options["model"] == "cnn":
        widths = [1, 32, 64, 128]
        layers = [
            each
            for a, b in itertools.pairwise(widths)
            for each in (nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        ]
        model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 9, 48), nn.ReLU(), nn.Linear(48, 10))
        return model, TensorDataset(torch.randn(2048, 1, 28, 28), labels)
    return Transformer(), TensorDataset(torch.randint(0, 256, (2048, 32)), labels)


def train(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def endless(loader, sampler):
    for epoch in range(10**9):
        sampler.set_epoch(epoch)
        yield from loader


job = kastor.init()
model, data = make()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
job.prepare(model, optimizer)
batches = job.batches(data, BATCH, epochs=10**6)
while job.step < WARM:  # Until the noise is observed at one step of four, as most of a training is.
    train(model, optimizer, *next(batches))

dist.init_process_group("gloo", f"file://{os.environ['MEETING']}", rank=job.rank, world_size=job.replicas)
plain = nn.parallel.DistributedDataParallel(make()[0])
plain_optimizer = torch.optim.SGD(plain.parameters(), lr=1e-3, momentum=0.9)
sampler = DistributedSampler(data)
plain_batches = endless(DataLoader(data, BATCH // job.replicas, sampler=sampler, drop_last=True), sampler)
turns = {
    "kastor": lambda: train(model, optimizer, *next(batches)),
    "ddp": lambda: train(plain, plain_optimizer, *next(plain_batches)),
}
for number in range(-3, options["rounds"]):
    row = {"parameters": sum(p.numel() for p in model.parameters())}
    for kind in sorted(turns, reverse=number % 2 == 0):
        dist.barrier()
        began, computed = time.perf_counter(), time.process_time()
        for _ in range(STEPS):
            turns[kind]()
        row[kind] = (time.perf_counter() - began) / STEPS
        row[f"{kind} cpu"] = (time.process_time() - computed) / STEPS
    if job.rank == 0 and number >= 0:
        with open(os.environ["RECORD"], "a") as record:
            print(json.dumps(row), file=record)
dist.destroy_process_group()
job.finish()
