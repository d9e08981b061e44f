"""Trainer of Transformers with all that hangs on its epochs and steps: prints what came, one after the other."""

import json
import os
import signal
import time

import faults
import torch
from safetensors.torch import load_file
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    EarlyStoppingCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

import kastor.torch as kastor
from kastor.transformers import ElasticMixin

torch.set_num_threads(1)
options = {
    "elastic": True,
    "epochs": 3,
    "every": "epoch",
    "steps": 5,
    "accumulation": 1,
    "best": 0,
    "dies": "",
    "joined_at": 0,
}
options.update(json.loads(os.environ.get("HOOKS", "{}")))
g = torch.Generator().manual_seed(0)
data = [
    {"input_ids": torch.randint(0, 50, (8,), generator=g), "labels": int(i % 2), "text": "of no use", "number": i}
    for i in range(512)
]
came, evaluations = [], []


class Hooks(TrainerCallback):
    def on_epoch_begin(self, args, state, control, **kwargs):
        came.append("epoch begins")

    def on_evaluate(self, args, state, control, metrics, **kwargs):
        came.append(f"evaluates at epoch {state.epoch:.3g} of {state.max_steps} steps")

    def on_log(self, args, state, control, logs, **kwargs):
        if "loss" in logs:
            # That of Transformers adds up the losses of four passes, of models whose loss it takes for a sum.
            came.append(f"logs at epoch {state.epoch:.3g}: loss {'is one' if 0.2 < logs['loss'] < 3 else logs['loss']}")

    def on_save(self, args, state, control, **kwargs):
        came.append(f"saves at epoch {state.epoch:.3g}")

    def on_epoch_end(self, args, state, control, **kwargs):
        came.append("epoch ends")

    def on_train_end(self, args, state, control, **kwargs):
        came.append(f"over at step {state.global_step}")


class ElasticTrainer(ElasticMixin, Trainer):
    def compute_loss(self, model, inputs, *args, **kwargs):
        if options["joined_at"] and self.job.step == options["joined_at"] and self.job.replicas == 1:
            while self.job._training.members.newer() is None:
                time.sleep(0.01)
        if not self.job.rehearsing:
            faults.record(self.job, torch.tensor([self.job.step]), model)
        return super().compute_loss(model, inputs, *args, **kwargs)

    def _save_optimizer_and_scheduler(self, output_dir):
        # The model is written by then, and the checkpoint is not whole.
        if options["dies"] == os.environ.get("KASTOR_POD"):
            os.kill(os.getpid(), signal.SIGKILL)
        super()._save_optimizer_and_scheduler(output_dir)


def score(prediction):
    """A metric that is best at one evaluation, counted by this process alone."""
    evaluations.append(prediction)
    return {"score": -abs(len(evaluations) - options["best"])}


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
    os.path.join(os.environ["TMPDIR"], "trainer"),
    per_device_train_batch_size=32 // options["accumulation"],
    gradient_accumulation_steps=options["accumulation"],
    num_train_epochs=options["epochs"],
    eval_strategy=options["every"],
    logging_strategy=options["every"],
    eval_steps=steps,
    logging_steps=steps,
    save_strategy=options["every"] if options["best"] else "no",
    save_steps=steps,
    save_total_limit=2,
    load_best_model_at_end=options["best"] > 0,
    metric_for_best_model="score" if options["best"] else None,
    greater_is_better=True,
    report_to=[],
    disable_tqdm=True,
    use_cpu=True,
)
kwargs = {"train_dataset": data, "eval_dataset": data[:64], "callbacks": [Hooks()]}
if options["best"]:
    kwargs["compute_metrics"] = score
    kwargs["callbacks"].append(EarlyStoppingCallback(2))
if options["elastic"]:
    trainer = ElasticTrainer(model, arguments, job=kastor.init(), **kwargs)
else:
    trainer = Trainer(model, arguments, **kwargs)
trainer.train()
if options["best"]:
    folder, mine = trainer.state.best_model_checkpoint, trainer.model.state_dict()
    best = load_file(os.path.join(folder, "model.safetensors"))
    same = all(torch.equal(mine[name], best[name]) for name in best)
    came.append(f"{os.path.basename(folder)}: {'the same' if same else 'another'} model")
    came.append(f"{sorted(os.listdir(arguments.output_dir))}")
print(json.dumps({"came": came}), flush=True)
if options["elastic"]:
    trainer.job.finish(loss=trainer.evaluate()["eval_loss"])
