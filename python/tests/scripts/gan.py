"""Script with two optimizers, as of a generative adversarial network; it writes down what each step trained on."""

import hashlib
import json
import os
import time

import faults
import torch
import torch.nn.functional as F

import kastor.torch as kastor

options = json.loads(os.environ.get("OPTIONS", "{}"))


class Points(torch.utils.data.Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(3)
        self.x = torch.randn(n, 4, generator=g) * 0.5 + torch.tensor([1.0, -1.0, 2.0, 0.0])

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], i


def bce(found, wanted):
    return F.binary_cross_entropy_with_logits(found, torch.full_like(found, wanted))


job = kastor.init()
faults.install(job)
torch.manual_seed(options.get("init_seed", os.getpid()))
generator = torch.nn.Sequential(
    torch.nn.Linear(8, 32), torch.nn.BatchNorm1d(32), torch.nn.ReLU(), torch.nn.Linear(32, 4)
)
critic = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.LeakyReLU(0.2), torch.nn.Linear(32, 1))
model = torch.nn.ModuleDict({"generator": generator, "critic": critic})
of_critic = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.999))
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
schedules = [torch.optim.lr_scheduler.ExponentialLR(each, 0.999) for each in (of_critic, of_generator)]
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0) if options.get("scaler") else None
job.prepare(model, [of_critic, of_generator], schedules, scaler)
train = Points(2048)
loader = job.loader(train, batch_size=32)
record = open(os.environ["RECORD"], "a", buffering=1)  # noqa: SIM115 - until the process ends


def backward(loss):
    (loss if scaler is None else scaler.scale(loss)).backward()


def apply(optimizer):
    if scaler is None:
        optimizer.step()
    else:
        scaler.step(optimizer)


def write(line):
    """Writes down the step that the last turn brought, if it brought one."""
    if line and job.step > line["step"]:
        state = b"".join(t.numpy().tobytes() for t in model.state_dict().values())
        updates = [int(next(iter(each.state.values()))["step"]) for each in (of_critic, of_generator)]
        line = {**line, "updates": updates, "state": hashlib.sha256(state).hexdigest()}
        print(json.dumps(line), file=record)


line = {}
for _epoch in job.epochs(options.get("epochs", 3)):
    for real, i in loader:
        write(line)
        line = {}
        noise = torch.randn(len(real), 8)
        of_critic.zero_grad()
        backward(bce(critic(real), 1.0))
        fake = generator(noise)
        backward(bce(critic(fake.detach()), 0.0))
        torch.nn.utils.clip_grad_norm_(critic.parameters(), 1000.0)
        apply(of_critic)
        if not job.rehearsing:
            faults.at("between", job.step)
        if job.step % options.get("every", 1) == 0:
            for p in critic.parameters():
                p.requires_grad_(False)
            of_generator.zero_grad()
            loss = bce(critic(fake), 1.0)
            backward(loss)
            apply(of_generator)
            for p in critic.parameters():
                p.requires_grad_(True)
            job.log(loss=loss)
        for schedule in schedules:
            schedule.step()
        if scaler is not None:
            scaler.update()
        if not job.rehearsing:
            line = {"step": job.step, "generation": job.generation, "replicas": job.replicas, "examples": i.tolist()}
        if not os.path.exists(os.environ["HURRY"]):
            time.sleep(options.get("pause", 0.05))
write(line)
with torch.no_grad():
    distance = (generator(torch.randn(1000, 8)).mean(0) - train.x.mean(0)).norm()
job.finish(accuracy=1.0 if distance < 1.5 else 0.0, distance=distance)
