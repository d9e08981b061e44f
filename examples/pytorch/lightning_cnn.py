"""Convolutional network for ten kinds of drawn shapes, trained by Lightning."""

import argparse

import torch
import torch.nn.functional as F
from example_data import shapes
from lightning.pytorch import LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader

import kastor.torch as kastor
from kastor.lightning import Elastic

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--examples", type=int, default=8000)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()


def layer(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]


class Shapes(LightningModule):
    def __init__(self, steps):
        super().__init__()
        self.steps = steps
        self.layers = nn.Sequential(*layer(3, 16), *layer(16, 32), *layer(32, 64), nn.Flatten(), nn.Linear(1024, 10))

    def training_step(self, batch, number):
        x, y = batch
        return F.cross_entropy(self.layers(x), y)

    def test_step(self, batch, number):
        x, y = batch
        self.log("accuracy", (self.layers(x).argmax(1) == y).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=self.steps + 1)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


elastic = Elastic(kastor.init(seed=options.seed))
torch.manual_seed(options.seed)
train, test = shapes(options.examples, seed=1), shapes(2000, seed=2)
net = Shapes(steps=options.epochs * len(train) // 64)
trainer = Trainer(
    devices=1,
    callbacks=[elastic],
    max_epochs=options.epochs,
    gradient_clip_val=1.0,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
)
trainer.fit(net, elastic.loader(train, batch_size=64, shuffle=True))
accuracy = trainer.test(net, DataLoader(test, batch_size=500), verbose=False)[0]["accuracy"]
print(f"accuracy {accuracy:.4f}")
elastic.job.finish(accuracy=accuracy)
