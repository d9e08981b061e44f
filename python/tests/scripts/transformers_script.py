"""Trainer of Transformers as a researcher has it."""

import os

import faults
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

import kastor.torch as kastor
from kastor.transformers import ElasticMixin

torch.set_num_threads(1)


class Repeats(torch.utils.data.Dataset):
    """Sequences whose second half repeats the first."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        half = torch.randint(0, 4, (n, 3), generator=g)
        self.rows = torch.cat([half, half], 1)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i], "labels": self.rows[i], "number": i}


class ElasticTrainer(ElasticMixin, Trainer):
    def compute_loss(self, model, inputs, *args, **kwargs):
        numbers = inputs.pop("number")
        if not self.job.rehearsing:
            faults.record(self.job, numbers, model)
        return super().compute_loss(model, inputs, *args, **kwargs)


job = kastor.init()
off = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
model = GPT2LMHeadModel(
    GPT2Config(vocab_size=4, n_positions=6, n_embd=32, n_layer=2, n_head=2, bos_token_id=None, eos_token_id=None, **off)
)
arguments = TrainingArguments(
    output_dir=os.environ["TMPDIR"],
    num_train_epochs=4,
    per_device_train_batch_size=32,
    learning_rate=3e-3,
    report_to=[],
    save_strategy="no",
    logging_strategy="no",
    use_cpu=True,
    disable_tqdm=True,
    remove_unused_columns=False,
)
ElasticTrainer(model, arguments, train_dataset=Repeats(2048, 1), job=job).train()
model.eval()
test = Repeats(500, 2).rows
with torch.no_grad():
    found = model(input_ids=test).logits[:, 2:-1].argmax(-1)
job.finish(accuracy=(found == test[:, 3:]).float().mean())
