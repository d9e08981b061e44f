"""Training script that does something else than steps until it is let on: once, in one of several ways."""

import json
import os
import time

import torch

import kastor.torch as kastor

options = json.loads(os.environ["OPTIONS"])


def wait_for(file):
    """Waits until there is a file."""
    while not os.path.exists(file):
        time.sleep(0.05)


if options["begins"]:
    wait_for(options["begins"])
job = kastor.init()
torch.manual_seed(1)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
job.prepare(model, optimizer)
data = torch.utils.data.TensorDataset(torch.randn(320, 2), torch.randn(320, 1))
loader = job.loader(data, batch_size=32)


def once():
    """Waits, the first time that any replica of the job comes here."""
    try:
        with open(os.environ["ONCE"], "x"):
            pass
    except FileExistsError:
        return
    wait_for(os.environ["ON"])
    print("goes on", flush=True)


for _epoch in job.epochs(4):
    for x, y in loader:
        if options["where"] == "in a step" and job.step == 15:
            once()
        if options["where"] == "in an evaluation amid steps" and job.step == 15:
            with job.evaluating():
                once()
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()
        time.sleep(0.05)
    if options["where"] == "between two loops":
        once()
job.finish()
