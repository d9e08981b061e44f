"""Training script that ``kastor.check`` looks at, which does one thing wrong."""

import sys

import torch
import torch.nn.functional as F

import kastor.torch as kastor

way = sys.argv[1]
if way == "no replica":
    print("trained alone")
    sys.exit(0)
torch.manual_seed(0)
x = torch.randn(512, 8, generator=torch.Generator().manual_seed(1))
y = (x.sum(1) > 0).long()
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0001 if way == "sums" else 0.05)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 100)
job = kastor.init()
extra = torch.nn.Linear(8, 2)
optimizers = [optimizer, torch.optim.SGD(extra.parameters(), lr=0.01)]
if way == "two optimizers":
    job.prepare(torch.nn.ModuleList([model, extra]), optimizers, scheduler)
else:
    job.prepare(model, optimizer, None if way == "scheduler" else scheduler)
loader = job.loader(torch.utils.data.TensorDataset(x, y), batch_size=16)
for _epoch in job.epochs(1 if way == "short" else 10_000):
    total = 0.0
    for a, b in loader:
        if way == "two optimizers":
            optimizers[1].zero_grad()
            extra(a).square().mean().backward()
            optimizers[1].step()
        loss = F.cross_entropy(model(a), b, reduction="sum" if way == "sums" else "mean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if way == "drift" and job.rank == 1:
            with torch.no_grad():
                model.bias += 0.1
        if way == "memory" and len(a) > 16:
            raise torch.OutOfMemoryError("as on a small GPU")
        job.log(loss=loss)
share = job.sharded(torch.arange(512))
job.finish(hits=sum(1.0 for _ in share) / 512, steps=job.step)
