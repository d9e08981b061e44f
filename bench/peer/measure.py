#!/usr/bin/env python3
"""Takes training steps with PyTorch for `kastor bench engine`, which starts it.

It builds the same models as dev.kastor.engine.bench.StepProcess and speaks as that does: a first line when the first
step is done, and a line for each line of its input, which says for how long to go on. PyTorch is used as its users
would: its own modules for attention and recurrence, eager mode, channels first.

Usage: measure.py MODEL_AS_JSON THREADS
"""

import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional

LEARNING_RATE = 0.01
MOMENTUM = 0.9
VOCABULARY = 256


def mlp(model):
    widths = [model["inputs"], *model["hidden"]]
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], model["classes"]))


def cnn(model):
    channels, layers = model["channels"], []
    for width in model["widths"]:
        layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        channels = width
    cells = (model["side"] >> len(model["widths"])) ** 2
    layers += [nn.Flatten(), nn.Linear(channels * cells, model["hidden"]), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(model["hidden"], model["classes"]))


class Block(nn.Module):
    """A basic block of ResNet; a projection where the shape changes."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(inputs, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, 1, 1, bias=False),
            nn.BatchNorm2d(width),
        )
        self.shortcut = nn.Identity()
        if stride > 1 or inputs != width:
            projection = nn.Conv2d(inputs, width, 1, stride, bias=False)
            self.shortcut = nn.Sequential(projection, nn.BatchNorm2d(width))

    def forward(self, x):
        return functional.relu(self.inner(x) + self.shortcut(x))


def resnet(model):
    width = model["stem"]
    stem = nn.Conv2d(model["channels"], width, 3, 1, 1, bias=False)
    layers = [stem, nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
    inputs = width
    for stage, blocks in enumerate(model["blocks"]):
        width = model["stem"] << stage
        for block in range(blocks):
            layers.append(Block(inputs, width, 2 if stage > 0 and block == 0 else 1))
            inputs = width
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, model["classes"])
    )


class Layer(nn.Module):
    """A layer of the transformer: attention and two dense layers, each behind a norm, beside a residual."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.attend = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, context, width = x.shape
        parts = self.attend(self.norm1(x)).view(batch, context, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.project(mixed.transpose(1, 2).reshape(batch, context, width))
        return x + self.down(functional.relu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, model):
        super().__init__()
        width = model["width"]
        self.tokens = model.get("vocabulary", VOCABULARY)
        self.embedding = nn.Embedding(self.tokens, width)
        self.place = nn.Parameter(0.02 * torch.randn(model["context"], width))
        self.layers = nn.Sequential(*(Layer(width, model["heads"]) for _ in range(model["layers"])))
        self.norm = nn.LayerNorm(width)
        tied = model.get("tied", False)
        self.head = nn.Linear(width, self.tokens, bias=not tied)
        if tied:
            # As GPT-2 does: with rows of length 1, exponentials underflow to numbers that CPUs are slow with.
            nn.init.normal_(self.embedding.weight, std=0.02)
            self.head.weight = self.embedding.weight

    def forward(self, tokens):
        x = self.layers(self.embedding(tokens) + self.place)
        return self.head(self.norm(x)).view(-1, self.tokens)


class Recurrent(nn.Module):
    def __init__(self, model):
        super().__init__()
        cell = {"lstm": nn.LSTM, "gru": nn.GRU}[model["cell"]]
        self.embedding = nn.Embedding(model["vocabulary"], model["embedding"])
        self.cell = cell(model["embedding"], model["hidden"], batch_first=True)
        self.head = nn.Linear(model["hidden"], model["vocabulary"])

    def forward(self, tokens):
        outputs, _ = self.cell(self.embedding(tokens))
        return self.head(outputs).flatten(0, 1)


def build(model):
    """The module, its features and its targets."""
    kind, batch = model["kind"], model["batch"]
    if kind in ("transformer", "recurrent"):
        tokens = model.get("vocabulary", VOCABULARY)
        features = torch.randint(0, tokens, (batch, model["context"]))
        targets = torch.randint(0, tokens, (batch * model["context"],))
        return (Transformer if kind == "transformer" else Recurrent)(model), features, targets
    targets = torch.randint(0, model["classes"], (batch,))
    if kind == "mlp":
        return mlp(model), torch.randn(batch, model["inputs"]), targets
    features = torch.randn(batch, model["channels"], model["side"], model["side"])
    return {"cnn": cnn, "resnet": resnet}[kind](model), features, targets


def peak_bytes():
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return 0


def main():
    threads = int(sys.argv[2])
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    torch.manual_seed(1)
    module, features, targets = build(json.loads(sys.argv[1]))
    optimizer = torch.optim.SGD(module.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = functional.cross_entropy(module(features), targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    def tell(**values):
        print(json.dumps(values), flush=True)

    loss = step()
    tell(
        device="cpu",
        library=f"PyTorch {torch.__version__}",
        parameters=sum(parameter.numel() for parameter in module.parameters()),
        loss=loss,
    )
    for line in sys.stdin:
        seconds = json.loads(line)["seconds"]
        steps, cpu, start = 0, time.process_time(), time.perf_counter()
        while steps == 0 or time.perf_counter() - start < seconds:
            loss = step()
            steps += 1
        took = time.perf_counter() - start
        cpu = time.process_time() - cpu
        tell(steps=steps, seconds=took, cpuSeconds=cpu, peakBytes=peak_bytes(), loss=loss)


if __name__ == "__main__":
    main()
