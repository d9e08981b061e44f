"""Lightning module as a researcher has it."""

import json
import os

import faults
import torch
import torch.nn.functional as F
from lightning.pytorch import LightningModule, Trainer

import kastor.torch as kastor
from kastor.lightning import Elastic

torch.set_num_threads(1)


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


class Net(LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
        self.epochs_seen = []

    def training_step(self, batch, number):
        x, y, i = batch
        if not elastic.job.rehearsing:
            faults.record(elastic.job, i, self)
        return F.cross_entropy(self.layers(x), y)

    def on_train_epoch_end(self):
        self.epochs_seen.append(elastic.job.epoch)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=300)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


elastic = Elastic(kastor.init())
net = Net()
Trainer(
    accelerator="cpu",
    devices=1,
    max_epochs=4,
    callbacks=[elastic],
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    gradient_clip_val=5.0,
    default_root_dir=os.environ["TMPDIR"],
).fit(net, elastic.loader(Clusters(2048, 1), batch_size=32))
test = Clusters(1000, 2)
print(json.dumps({"epochs": net.epochs_seen}))
with torch.no_grad():
    elastic.job.finish(accuracy=(net.layers(test.x).argmax(1) == test.y).float().mean())
