"""Generative adversarial network for points on a ring: a critic and a generator, each with an optimizer of its own."""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import TensorDataset

import kastor.torch as kastor

BATCH, NOISE = 128, 8

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=30)
parser.add_argument("--examples", type=int, default=8192)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()


def ring(number, seed):
    g = torch.Generator().manual_seed(seed)
    angle = torch.randint(0, 8, (number,), generator=g) * math.pi / 4
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.1 * torch.randn(number, 2, generator=g)


def perceptron(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, outputs)
    )


def penalty(real):
    """Slope of the critic at real points, without which the two go round in circles (Mescheder et al., 2018)."""
    real = real.clone().requires_grad_()
    (slope,) = torch.autograd.grad(critic(real).sum(), real, create_graph=True)
    return 0.5 * slope.square().sum(1).mean()


@torch.no_grad()
def evaluate(real):
    """Energy distance of what is generated to real points: 0 where nothing tells them apart."""
    fake = generator(torch.randn(len(real), NOISE, device=device, generator=torch.Generator(device).manual_seed(1)))
    found = 2 * torch.cdist(real, fake).mean() - torch.cdist(real, real).mean() - torch.cdist(fake, fake).mean()
    return found.item()


job = kastor.init(seed=options.seed)
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(options.seed)
train, test = TensorDataset(ring(options.examples, seed=1)), ring(1000, seed=2).to(device)
generator, critic = perceptron(NOISE, 2).to(device), perceptron(2, 1).to(device)
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.99))
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.99))
job.prepare(nn.ModuleDict({"generator": generator, "critic": critic}), [of_generator, of_critic])
loader = job.loader(train, batch_size=BATCH, shuffle=True)

for epoch in job.epochs(options.epochs):
    for (real,) in loader:
        real = real.to(device)
        fake = generator(torch.randn(len(real), NOISE, device=device))
        of_critic.zero_grad()
        loss = F.softplus(critic(fake.detach())).mean() + F.softplus(-critic(real)).mean() + penalty(real)
        loss.backward()
        of_critic.step()
        of_generator.zero_grad()
        F.softplus(-critic(fake)).mean().backward()
        of_generator.step()
    distance = evaluate(test)
    print(f"epoch {epoch}: distance {distance:.4f}")
job.finish(distance=distance)
