"""Training script that ends in one of several ways."""

import json
import os
import sys

import torch

import kastor.torch as kastor
from kastor import noise

options = json.loads(os.environ["OPTIONS"])
how = options["how"]
noise._OBSERVED_EACH_STEP = options.get("observed_each_step", 400)
if how == "caught":
    try:
        kastor.init()
    except Exception as e:
        print("caught", e)
        raise
job = kastor.init()
print("computes with", torch.get_num_threads(), "threads")
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
job.prepare(model, optimizer)
data = torch.utils.data.TensorDataset(torch.randn(64, 2), torch.randn(64, 1))
loader = job.loader(data, batch_size=16 if how == "wrong batch" else 32)
for _epoch in job.epochs(50):
    batches = iter(loader)
    for x, y in batches:
        if how == "fetches ahead" and job.step == 10:
            next(batches)
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        if how == "diverges" and job.step == 10:
            loss = loss * float("nan")
        if how == "one replica diverges" and job.step >= 10 and job.rank == 1:
            loss = loss * float("nan")
        loss.backward()
        if how == "skips a step" and job.step == 10:
            continue
        optimizer.step()
        if how == "leaves at once":
            break
        if how == "raises" and job.step == 10:
            raise ValueError("the disk with the data is gone")
        if how == "ends early" and job.step == 10:
            sys.exit(0)
