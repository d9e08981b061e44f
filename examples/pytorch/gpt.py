"""Small GPT that continues stories character by character."""

import argparse
import math

import torch
import torch.nn.functional as F
from example_data import stories
from torch import nn
from torch.utils.data import DataLoader, Dataset

import kastor.torch as kastor

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
CONTEXT, WIDTH, HEADS, LAYERS, BATCH = 64, 64, 4, 2, 16


class Windows(Dataset):
    """Pieces of a text, a context and the character after it long."""

    def __init__(self, text, stride):
        self.text, self.stride = text, stride

    def __len__(self):
        return (len(self.text) - CONTEXT - 1) // self.stride

    def __getitem__(self, i):
        return self.text[i * self.stride : i * self.stride + CONTEXT + 1]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.project = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        q, k, v = self.qkv(self.before_attention(x)).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(self.before_mlp(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.characters, self.places = nn.Embedding(128, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)), nn.LayerNorm(WIDTH))
        self.head = nn.Linear(WIDTH, 128)

    def forward(self, text):
        return self.head(self.blocks(self.characters(text) + self.places.weight))

    def loss(self, text):
        return F.cross_entropy(self(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())


def evaluate(model, data):
    model.eval()
    with torch.no_grad():
        loss = sum(model.loss(text.to(device)) * len(text) for text in DataLoader(data, batch_size=100)) / len(data)
    model.train()
    return loss.item() / math.log(2)


device = "cuda" if torch.cuda.is_available() else "cpu"
job = kastor.init(seed=options.seed)
torch.manual_seed(options.seed)
train, test = Windows(stories(held_out=False), stride=8), Windows(stories(held_out=True), stride=CONTEXT)
model = GPT().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.002)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.002, options.epochs * len(train) // BATCH + 2)
job.prepare(model, optimizer, scheduler)
loader = job.loader(train, batch_size=BATCH, shuffle=True)

for epoch in job.epochs(options.epochs):
    for text in loader:
        loss = model.loss(text.to(device))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    bits = evaluate(model, test)
    print(f"epoch {epoch}: bits per character {bits:.4f}")
job.finish(bitsPerCharacter=bits)
