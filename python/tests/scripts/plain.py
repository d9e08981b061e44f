"""Training script as a researcher has it; it also writes down what each step trained on, for the tests."""

import hashlib
import json
import os
import random
import time

import faults
import numpy as np
import torch
import torch.nn.functional as F

import kastor.torch as kastor

options = json.loads(os.environ.get("OPTIONS", "{}"))
seed = options.get("seed", 1)


class Clusters(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        centres = torch.randn(10, 16, generator=torch.Generator().manual_seed(7))
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 10, (n,), generator=g)
        self.x = centres[self.y] * 0.9 + torch.randn(n, 16, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i], i


def accuracy(model, data):
    model.eval()
    with torch.no_grad():
        found = (model(data.x).argmax(1) == data.y).float().mean().item()
    model.train()
    return found


job = kastor.init()
faults.install(job)
init_seed = options.get("init_seed", os.getpid())
torch.manual_seed(init_seed)
random.seed(init_seed)
np.random.seed(init_seed)
width = options.get("width", 32)
model = torch.nn.Sequential(
    torch.nn.Linear(16, width), torch.nn.BatchNorm1d(width), torch.nn.ReLU(), torch.nn.Linear(width, 10)
)
if options.get("adam"):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.005)
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
train, test = Clusters(options.get("examples", 2048), 1), Clusters(1000, 2)
epochs, batch = options.get("epochs", 4), options.get("batch", 32)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(train) // batch + 10)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0) if options.get("scaler") else None
if options.get("compile"):
    forward = torch.compile(model, backend="eager")
else:
    forward = model
job.prepare(model, optimizer, scheduler, scaler)
sampler = None
if options.get("weighted"):
    half = len(train) // 2
    sampler = torch.utils.data.WeightedRandomSampler([1.0] * half + [4.0] * half, num_samples=half)
stream = None
if options.get("shards"):
    lengths = options["shards"]
    firsts = [sum(lengths[:number]) for number in range(len(lengths))]
    stream = kastor.Stream(lambda s: (train[i] for i in range(firsts[s], firsts[s] + lengths[s])), lengths)
loader = job.loader(stream or train, batch_size=batch, sampler=sampler, num_workers=options.get("workers", 0))
path = os.environ["RECORD"].replace("{pod}", os.environ["KASTOR_POD"])
record = open(path, "a", buffering=1)  # noqa: SIM115 - until the process ends
indices = []
for _epoch in job.epochs(epochs):
    for x, y, i in loader:
        before = job.step
        noise = [random.random(), np.random.random(), torch.rand(()).item()]
        if not job.rehearsing:
            indices += i.tolist()
            faults.at("body", before)
        if len(x) > options.get("most", len(x)):
            torch.empty(2**50)  # as a model whose memory grows with the batch
        loss = F.cross_entropy(forward(x), y)
        optimizer.zero_grad()
        if scaler is None:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            scaler.step(optimizer)
            scaler.update()
        scheduler.step()
        norm = sum(p.grad.norm() for p in model.parameters())  # as for a log, whatever became of the step
        job.log(loss=loss, **{"batch/first": float(i[0]), "norm": norm})
        if job.step > before:
            state = b"".join(t.numpy().tobytes() for t in model.state_dict().values())
            line = {"step": before, "generation": job.generation, "replicas": job.replicas, "examples": indices}
            line["noise"] = noise
            if options.get("sums"):
                line["sum"] = job.sum(1)
            print(json.dumps({**line, "state": hashlib.sha256(state).hexdigest()}), file=record)
            indices = []
            if not os.path.exists(os.environ["HURRY"]):
                time.sleep(options.get("pause", 0.05))
        elif job._training.step.broken:
            indices = []
        if options.get("sums_each_pass"):
            if job.step == before:
                faults.at("between passes", before)
            job.sum(1)
            if job._training.members.group is None:
                indices = []  # the step is taken again
        if options.get("leaves") and not job.rehearsing and job.epoch_progress >= options["leaves"]:
            break
    if options.get("evaluates_too_much"):
        torch.empty(2**50)
    with job.evaluating():
        shard = job.sharded(test)
        hits = job.average(accuracy(model, test), weight=len(shard))
        job.log(accuracy=hits)
        gathered = sorted(job.gather(torch.tensor(list(shard.indices), dtype=torch.int16)).tolist())
        seen = "all" if gathered == list(range(len(test))) else "some"
        job.rank0(print, f"epoch {job.epoch} accuracy {hits:.4f} of {seen} metrics {job.metrics()}")
model.eval()
with torch.no_grad():
    held_out = F.cross_entropy(model(test.x), test.y)
job.finish(accuracy=accuracy(model, test), held_out_loss=held_out)
