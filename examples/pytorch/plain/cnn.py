"""Convolutional network for ten kinds of drawn shapes: 32 x 32 pixels in three colours, as CIFAR's."""

import argparse

import torch
import torch.nn.functional as F
from example_data import shapes
from torch import nn
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--examples", type=int, default=8000)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()


def layer(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]


def evaluate(model, data):
    model.eval()
    with torch.no_grad():
        right = sum(
            (model(x.to(device)).argmax(1).cpu() == y).sum().item() for x, y in DataLoader(data, batch_size=500)
        )
    model.train()
    return right / len(data)


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(options.seed)
train, test = shapes(options.examples, seed=1), shapes(2000, seed=2)
model = nn.Sequential(*layer(3, 16), *layer(16, 32), *layer(32, 64), nn.Flatten(), nn.Linear(64 * 4 * 4, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
steps = options.epochs * len(train) // 64
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps + 1)
loader = DataLoader(train, batch_size=64, shuffle=True)

for epoch in range(options.epochs):
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    accuracy = evaluate(model, test)
    print(f"epoch {epoch}: accuracy {accuracy:.4f}")
