"""Names of AdaptDL's Python client, for scripts that were written for it.

In lines that import ``adaptdl``, write ``kastor.compat.adaptdl`` instead, as ``import kastor.compat.adaptdl as
adaptdl``; the rest stays. What differs: one training loader, batches are chosen by the operator within the bounds of
the manifest rather than in the process, no example is padded or dropped, and code before a loop need not be
idempotent, as no process starts anew when the job's size changes. (AdaptDL: Pollux, OSDI 2021.)
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

from kastor.compat.adaptdl import env, torch
from kastor.compat.adaptdl.torch import (
    Accumulator,
    AdaptiveDataLoader,
    AdaptiveDataParallel,
    current_epoch,
    finish,
    finished_epochs,
    init_process_group,
    remaining_epochs_until,
)

__all__ = [
    "Accumulator",
    "AdaptiveDataLoader",
    "AdaptiveDataParallel",
    "current_epoch",
    "env",
    "finish",
    "finished_epochs",
    "get_tensorboard_dir",
    "init_process_group",
    "remaining_epochs_until",
    "torch",
]


def get_tensorboard_dir() -> str:
    """Folder for a ``SummaryWriter``: on rank 0 the job's in ``ADAPTDL_TENSORBOARD_LOGDIR``, else a temporary one."""
    temporary = tempfile.gettempdir()
    folder = os.environ.get("ADAPTDL_TENSORBOARD_LOGDIR", temporary) if env.replica_rank() == 0 else temporary
    return os.path.join(folder, env.job_id())


def __getattr__(name: str) -> Any:
    return torch.__getattr__(name)
