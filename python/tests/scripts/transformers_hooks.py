"""Trainer of Transformers with all that hangs on its epochs and steps: prints what came, one after the other."""

import json
import os

import faults
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

import kastor.torch as kastor
from kastor.transformers import ElasticMixin

torch.set_num_threads(1)
options = {"elastic": True, "epochs": 3, "every": "epoch", "steps": 5}
options.update(json.loads(os.environ.get("HOOKS", "{}")))
g = torch.Generator().manual_seed(0)
data = [
    {"input_ids": torch.randint(0, 50, (8,), generator=g), "labels": int(i % 2), "text": "of no use", "number": i}
    for i in range(512)
]
came = []


class Hooks(TrainerCallback):
    def on_epoch_begin(self, args, state, control, **kwargs):
        came.append("epoch begins")

    def on_evaluate(self, args, state, control, metrics, **kwargs):
        came.append(f"evaluates at epoch {state.epoch:.3g} of {state.max_steps} steps")

    def on_log(self, args, state, control, logs, **kwargs):
        if "loss" in logs:
            came.append(f"logs at epoch {state.epoch:.3g}: loss {'is one' if 0.2 < logs['loss'] < 2 else logs['loss']}")

    def on_epoch_end(self, args, state, control, **kwargs):
        came.append("epoch ends")

    def on_train_end(self, args, state, control, **kwargs):
        came.append(f"over at step {state.global_step}")


class ElasticTrainer(ElasticMixin, Trainer):
    def compute_loss(self, model, inputs, *args, **kwargs):
        if not self.job.rehearsing:
            faults.record(self.job, torch.tensor([self.job.step]), model)
        return super().compute_loss(model, inputs, *args, **kwargs)


model = BertForSequenceClassification(
    BertConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
    )
)
steps = options["steps"]
arguments = TrainingArguments(
    os.environ.get("TMPDIR", "/tmp"),
    per_device_train_batch_size=32,
    num_train_epochs=options["epochs"],
    eval_strategy=options["every"],
    logging_strategy=options["every"],
    eval_steps=steps,
    logging_steps=steps,
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
    use_cpu=True,
)
kwargs = {"train_dataset": data, "eval_dataset": data[:64], "callbacks": [Hooks()]}
if options["elastic"]:
    trainer = ElasticTrainer(model, arguments, job=kastor.init(), **kwargs)
else:
    trainer = Trainer(model, arguments, **kwargs)
trainer.train()
print(json.dumps({"came": came}), flush=True)
if options["elastic"]:
    trainer.job.finish(loss=trainer.evaluate()["eval_loss"])
