"""Member of a gang that adds up the ranks of all by PyTorch's own means, and knows nothing of Kastor."""

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
ranks = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(ranks)
print(f"{os.environ['KASTOR_JOB']}: {dist.get_world_size()} members, sum {ranks.item():.0f}", flush=True)
dist.barrier()
dist.destroy_process_group()
