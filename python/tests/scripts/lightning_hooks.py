"""Lightning with all that hangs on its epochs: prints which callbacks came, one after the other."""

import json
import os
import sys

import faults
import torch
import torch.nn.functional as F
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import EarlyStopping
from torch.utils.data import DataLoader, TensorDataset

import kastor.torch as kastor
from kastor.lightning import Elastic

torch.set_num_threads(1)
options = {"elastic": True, "epochs": 3, "interval": 1.0, "every": 1, "patience": 0, "examples": 512}
options.update(json.loads(os.environ.get("HOOKS", "{}")))
g = torch.Generator().manual_seed(0)
x = torch.randn(options["examples"], 8, generator=g)
data = TensorDataset(x, (x[:, 0] > 0).long(), torch.arange(len(x)))
came = []


class Hooks(Callback):
    def on_train_epoch_start(self, trainer, module):
        came.append(f"epoch {trainer.current_epoch}")

    def on_validation_start(self, trainer, module):
        if not trainer.sanity_checking:
            came.append("validates")

    def on_train_epoch_end(self, trainer, module):
        came.append(f"ends, val_loss {'val_loss' in trainer.callback_metrics}")

    def on_train_end(self, trainer, module):
        came.append(f"over after {trainer.current_epoch}")


class Net(LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.net = torch.nn.Linear(8, 2)

    def training_step(self, batch, number):
        if options["elastic"] and not elastic.job.rehearsing:
            faults.record(elastic.job, batch[2], self)
        return F.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, number):
        # Never better: who waits for that waits in vain.
        self.log("val_loss", F.cross_entropy(self.net(batch[0]), batch[1]) if not options["patience"] else 1.0)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        came.append(f"steps in all {self.trainer.estimated_stepping_batches}")
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "monitor": "val_loss"}}


callbacks = [Hooks()]
if options["patience"]:
    callbacks.append(EarlyStopping("val_loss", patience=options["patience"]))
if options["elastic"]:
    elastic = Elastic(kastor.init())
    callbacks.append(elastic)
    loader = elastic.loader(data, batch_size=32)
else:
    loader = DataLoader(data, batch_size=32, shuffle=True)
trainer = Trainer(
    devices=1,
    accelerator="cpu",
    max_epochs=options["epochs"],
    val_check_interval=options["interval"],
    check_val_every_n_epoch=options["every"],
    callbacks=callbacks,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    default_root_dir=os.environ.get("TMPDIR"),
)
net = Net()
trainer.fit(net, loader, DataLoader(data, batch_size=64))
print(json.dumps({"came": came}), flush=True)
if options["elastic"]:
    elastic.job.finish(val_loss=float(trainer.callback_metrics["val_loss"]))
sys.stdout.flush()
