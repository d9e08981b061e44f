"""Training with 100 MB of state: 12.5 million parameters in 20 layers, and their momentum."""

import torch
import torch.nn.functional as F

import kastor.torch as kastor

WIDTH, LAYERS = 791, 20

job = kastor.init()
torch.manual_seed(0)
layers = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)]
model = torch.nn.Sequential(*(each for layer in layers for each in (layer, torch.nn.ReLU())), torch.nn.Linear(WIDTH, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
job.prepare(model, optimizer)
data = torch.utils.data.TensorDataset(torch.randn(4096, WIDTH), torch.randn(4096, 1))
for x, y in job.batches(data, 32, epochs=1_000_000):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
