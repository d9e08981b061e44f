"""Script for AdaptDL that trains on one long text; it also writes down what each step trained on, for the tests."""

import hashlib
import json
import os
import time

import torch
import torch.nn.functional as F

import kastor.compat.adaptdl as adaptdl
import kastor.compat.adaptdl.torch as adl
from kastor.compat.adaptdl.torch.iterator import AdaptiveBPTTIterator

options = json.loads(os.environ["OPTIONS"])
job = adl.init_process_group("gloo")
torch.manual_seed(os.getpid())
network = torch.nn.Sequential(torch.nn.Embedding(47, 8), torch.nn.Linear(8, 47))
optimizer = torch.optim.SGD(network.parameters(), lr=0.2)
model = adl.AdaptiveDataParallel(network, optimizer)
# A token is its place in the text, so that the record says which places were trained on.
batches = AdaptiveBPTTIterator(torch.arange(options["tokens"]), batch_size=16, bptt_len=5, max_batch_size=64)
record = open(os.environ["RECORD"], "a", buffering=1)  # noqa: SIM115 - until the process ends
for _ in adl.remaining_epochs_until(options["epochs"]):
    stats = adl.Accumulator()
    for text, target in batches:
        before, trained = job.step, target != -100
        logits = model(text % 47)
        loss = F.cross_entropy(logits[trained], target[trained] % 47)
        model.zero_grad()
        loss.backward()
        optimizer.step()
        stats["chunks"] += text.size(1)
        # A name that only this replica has.
        stats[f"of rank {adaptdl.env.replica_rank()}"] += text.size(1)
        if job.step == before:
            continue
        state = b"".join(t.numpy().tobytes() for t in network.state_dict().values())
        line = {
            "step": before,
            "epoch": adl.current_epoch(),
            "generation": job.generation,
            "replicas": adaptdl.env.num_replicas(),
            "nodes": adaptdl.env.num_nodes(),
            "examples": (text[0] // 5).tolist(),
            "last": target[trained].max().item(),
            "gains": [model.gain, job.metrics().get("gain", 1.0)],
            "batches": [batches.current_batch_size, batches.current_local_bsz, batches.accumulation_steps],
            "state": hashlib.sha256(state).hexdigest(),
        }
        print(json.dumps(line), file=record)
        if not os.path.exists(os.environ["HURRY"]):
            time.sleep(0.05)
    with stats.synchronized():
        print(json.dumps({"epoch": adl.current_epoch(), **stats}))
adl.finish()
