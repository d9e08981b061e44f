"""Training script whose end is the job's declared work alone."""

import time

import torch
import torch.nn.functional as F

import kastor.torch as kastor

torch.set_num_threads(1)
job = kastor.init()
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
job.prepare(model, optimizer)
inputs = torch.randn(512, 8, generator=torch.Generator().manual_seed(1))
loader = job.loader(torch.utils.data.TensorDataset(inputs, (inputs.sum(1) > 0).long()))
for _epoch in job.epochs(10**9):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        job.log(loss=loss)
        time.sleep(0.02)
job.finish(loss=loss)
