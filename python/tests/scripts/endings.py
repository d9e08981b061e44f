"""Training script that ends in one of several ways."""

import json
import os
import sys

import torch

import kastor.torch as kastor

torch.set_num_threads(1)
how = json.loads(os.environ["OPTIONS"])["how"]
if how == "caught":
    try:
        kastor.init()
    except Exception as e:
        print("caught", e)
        raise
job = kastor.init()
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
job.prepare(model, optimizer)
data = torch.utils.data.TensorDataset(torch.randn(64, 2), torch.randn(64, 1))
loader = job.loader(data, batch_size=16 if how == "wrong batch" else 32)
for _epoch in job.epochs(50):
    for x, y in loader:
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        if how == "diverges" and job.step == 10:
            loss = loss * float("nan")
        loss.backward()
        optimizer.step()
        if how == "raises" and job.step == 10:
            raise ValueError("the disk with the data is gone")
        if how == "ends early" and job.step == 10:
            sys.exit(0)
