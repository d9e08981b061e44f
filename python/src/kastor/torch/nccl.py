"""Summation of gradients by NCCL, for replicas on GPUs.

gloo forms the group and carries all control messages; NCCL carries gradients alone. A step counts as
whole only once the device has finished, as an all-reduce whose peer died would otherwise let the
optimizer apply garbage.
"""

from __future__ import annotations

import contextlib
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from kastor.torch.group import BrokenGroupError, Group, Pending

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store

_TURN_SECONDS = 0.0005
_LONGEST_WAIT = timedelta(minutes=60)


class _NcclWork:
    def __init__(self, work: dist.Work, sums: NcclSum) -> None:
        self._work, self._sums = work, sums

    def wait(self) -> None:
        began = time.monotonic()
        try:
            while not self._work.is_completed():
                if self._sums.group.given_up(time.monotonic() - began):
                    # The kernel waits for a member that is gone: only an abort ends it.
                    self._sums.close()
                    raise BrokenGroupError("a member does not answer and a newer generation is known")
                time.sleep(_TURN_SECONDS)
            self._work.wait()
            torch.cuda.synchronize(self._sums.device)
        except RuntimeError as e:
            raise BrokenGroupError(str(e).splitlines()[0][:200]) from e


class NcclSum:
    """Summation by a NCCL communicator of the group's members."""

    def __init__(self, group: Group, store: Store, device: torch.device) -> None:
        nccl: Any = dist.ProcessGroupNCCL
        options = nccl.Options()
        options._timeout = _LONGEST_WAIT
        self.group, self.device = group, device
        self._backend: Any = nccl(store, group.rank, group.size, options)

    def start(self, flat: torch.Tensor) -> Pending:
        """Starts to sum a flat tensor on the device."""
        try:
            return _NcclWork(self._backend.allreduce([flat]), self)
        except RuntimeError as e:
            raise BrokenGroupError(str(e).splitlines()[0][:200]) from e

    def close(self) -> None:
        """Aborts the communicator: its kernels would wait for members that are gone."""
        with contextlib.suppress(RuntimeError):
            self._backend.abort()
