"""Training script that makes its replicas differ, in a way of its own, or changes what it trains."""

import hashlib
import json
import os
import time

import torch
import torch.nn.functional as F

import kastor.torch as kastor

options = json.loads(os.environ["OPTIONS"])
way, at = options["way"], 10
torch.manual_seed(0)
x = torch.randn(128, 8, generator=torch.Generator().manual_seed(1))
y = (x[:, 0] * x[:, 1] > 0).long()
body, norm, head = torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 2)
model = torch.nn.Sequential(body, norm, torch.nn.Tanh(), head)
model.register_buffer("seen", torch.zeros(3, dtype=torch.int64))
job = kastor.init(drift=options.get("drift", "repair"))
if way in ("unfreezes", "unfreezes on one", "swaps"):
    body.requires_grad_(False)
own = head.parameters() if way == "adds a group" else model.parameters()
optimizer = torch.optim.SGD(own, lr=0.1, momentum=0.9)
job.prepare(model, optimizer)
loader = job.loader(torch.utils.data.TensorDataset(x, y), batch_size=16)


def change():
    """What a script does at a step, before its pass."""
    second = job.rank == 1
    if job.step >= at:
        if way == "unfreezes" or (way == "unfreezes on one" and second):
            body.requires_grad_(True)
        elif way == "swaps":
            body.requires_grad_(True)
            head.requires_grad_(False)
        elif way == "freezes":
            body.requires_grad_(False)
    if way == "adds a group" and job.step >= at and len(optimizer.param_groups) == 1:
        optimizer.add_param_group({"params": [*body.parameters(), *norm.parameters()], "lr": 0.01})
    if way == "replaces a module" and job.step >= at and model[3] is head:
        torch.manual_seed(os.getpid())
        model[3] = torch.nn.Linear(16, 2)
        optimizer.param_groups[0]["params"] = list(model.parameters())
    if way == "adds what is not shared" and job.step == at and len(optimizer.param_groups) == 1:
        optimizer.add_param_group({"params": [torch.nn.Parameter(torch.zeros(2))]})
    if way == "own rate" and second:
        optimizer.param_groups[0]["lr"] = 0.05
    with torch.no_grad():
        if job.step == at and second:
            if way == "a weight":
                body.weight[0, 0] += 1.0
            elif way == "a buffer":
                model.seen += 1
            elif way == "half precision":
                optimizer.state[body.weight]["momentum_buffer"] = optimizer.state[body.weight]["momentum_buffer"].half()


for _epoch in job.epochs(options.get("epochs", 8)):
    for batch, labels in loader:
        before = job.step
        if not job.rehearsing:
            change()
        loss = F.cross_entropy(model(batch), labels)
        optimizer.zero_grad()
        loss.backward()
        if not job.rehearsing and job.rank == 1:
            if way == "a dropped gradient" and before == at:
                body.weight.grad = None
            if way == "a clipped gradient" and before >= at:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
        optimizer.step()
        if way == "replaces all" and job.step == at and model[0] is body:
            # Before the next pass, which so reaches nothing of what was trained until now.
            torch.manual_seed(os.getpid())
            model[0], model[1], model[3] = torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 2)
            optimizer.param_groups[0]["params"] = list(model.parameters())
        if way == "an update by hand" and job.step > at and job.rank == 1:
            with torch.no_grad():
                head.weight -= 0.01
        hurries = options.get("hurries") and os.path.exists(os.environ["HURRY"])
        if job.step > before and not hurries:
            time.sleep(0.05)
state = b"".join(t.float().numpy().tobytes() for t in model.state_dict().values())
trained = [name for name, p in model.named_parameters() if p.requires_grad]
with open(os.environ["RECORD"], "a") as record:
    print(json.dumps({"state": hashlib.sha256(state).hexdigest(), "trained": trained}), file=record)
job.finish(loss=loss)
