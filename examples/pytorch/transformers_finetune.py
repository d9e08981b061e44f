"""Causal language model of Transformers that learns the style of stories, character by character.

It begins with random parameters, so that it needs no download; with those of
``AutoModelForCausalLM.from_pretrained(name)`` the rest stays.
"""

import argparse
import math
import tempfile

import torch
from example_data import stories
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

import kastor.torch as kastor
from kastor.transformers import ElasticMixin

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
CONTEXT = 64


class Windows(Dataset):
    """Pieces of a text, as a Trainer wants them."""

    def __init__(self, text, stride):
        self.text, self.stride = text, stride

    def __len__(self):
        return (len(self.text) - CONTEXT) // self.stride

    def __getitem__(self, i):
        piece = self.text[i * self.stride : i * self.stride + CONTEXT]
        return {"input_ids": piece, "labels": piece}


class ElasticTrainer(ElasticMixin, Trainer):
    pass


job = kastor.init(seed=options.seed)
torch.manual_seed(options.seed)
train, test = Windows(stories(held_out=False), stride=16), Windows(stories(held_out=True), stride=CONTEXT)
model = GPT2LMHeadModel(GPT2Config(vocab_size=128, n_positions=CONTEXT, n_embd=64, n_layer=2, n_head=4))
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        num_train_epochs=options.epochs,
        per_device_train_batch_size=16,
        learning_rate=2e-3,
        lr_scheduler_type="cosine",
        report_to="none",
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
    )
    trainer = ElasticTrainer(model, arguments, train_dataset=train, eval_dataset=test, job=job)
    trainer.train()
    bits = trainer.evaluate()["eval_loss"] / math.log(2)
    print(f"bits per character {bits:.4f}")
job.finish(bitsPerCharacter=bits)
