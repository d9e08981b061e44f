"""Convolutional network for drawn digits, as scripts for AdaptDL are written."""

import argparse

import kastor.compat.adaptdl as adl
import torch
import torch.nn.functional as F
from example_data import digits
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--examples", type=int, default=6000)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 16, 3), nn.Conv2d(16, 32, 3)
        self.hidden, self.last = nn.Linear(32 * 25, 64), nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.first(x)), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return self.last(F.relu(self.hidden(x.flatten(1))))


def train(model, loader, optimizer):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()


def test(model, loader):
    model.eval()
    stats = adl.Accumulator()
    with torch.no_grad():
        for x, y in loader:
            stats["right"] += (model(x.to(device)).argmax(1).cpu() == y).sum().item()
            stats["total"] += len(y)
    with stats.synchronized():
        print(f"epoch {adl.current_epoch()}: accuracy {stats['right'] / stats['total']:.4f}")


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(options.seed)
adl.init_process_group("nccl" if device == "cuda" else "gloo")
train_loader = adl.AdaptiveDataLoader(digits(options.examples, seed=1), batch_size=32, shuffle=True, drop_last=True)
train_loader.autoscale_batch_size(512, local_bsz_bounds=(8, 256), gradient_accumulation=True)
test_loader = adl.AdaptiveDataLoader(digits(2000, seed=2), batch_size=500)
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [options.epochs * 3 // 4])
model = adl.AdaptiveDataParallel(model, optimizer, scheduler)

for epoch in adl.remaining_epochs_until(options.epochs):
    train(model, train_loader, optimizer)
    test(model, test_loader)
    scheduler.step()
