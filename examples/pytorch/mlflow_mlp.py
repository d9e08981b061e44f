"""Perceptron for drawn digits that logs to MLflow: one run a job, whichever replica is rank 0."""

import argparse
import os
import uuid

import mlflow
import torch
import torch.nn.functional as F
from example_data import digits
from torch import nn

import kastor.torch as kastor

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--examples", type=int, default=8000)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()


class Tracked:
    """Run of MLflow that rank 0 has open; the next rank 0 finds it by the UID of the job."""

    def __init__(self, job):
        self.job, self.uid = job, os.environ.get("KASTOR_JOB_UID") or uuid.uuid4().hex

    def begin(self):
        found = mlflow.search_runs(filter_string=f"tags.kastor_job = '{self.uid}'", output_format="list")
        if found:
            mlflow.start_run(run_id=found[0].info.run_id)
        else:
            mlflow.start_run(run_name=os.environ.get("KASTOR_JOB"), tags={"kastor_job": self.uid})
            mlflow.log_params(vars(options))

    def log(self, **values):
        self.job.log(**values)  # for kastor metrics, the web page and TensorBoard
        if self.job.rank == 0 and not self.job.rehearsing:
            if mlflow.active_run() is None:
                self.begin()
            mlflow.log_metrics(values, step=self.job.step)
        elif mlflow.active_run() is not None:
            mlflow.end_run()


device = "cuda" if torch.cuda.is_available() else "cpu"
job = kastor.init(seed=options.seed)
tracked = Tracked(job)
torch.manual_seed(options.seed)
train, test = digits(options.examples, seed=1), digits(2000, seed=2)
model = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 128), nn.ReLU(), nn.Linear(128, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
job.prepare(model, optimizer)
loader = job.loader(train, batch_size=32, shuffle=True)

for _epoch in job.epochs(options.epochs):
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if job.step % 20 == 0:
            tracked.log(loss=loss.item())
    with torch.no_grad():
        x, y = test.tensors
        accuracy = (model(x.to(device)).argmax(1).cpu() == y).float().mean().item()
    tracked.log(accuracy=accuracy)
job.finish(accuracy=accuracy)
