"""Faults that a test asks of a replica: it kills itself by SIGKILL, or hangs, at one point of one step."""

import json
import os
import signal
import time

from kastor.torch import group, state

_fault = json.loads(os.environ.get("FAULT", "null"))


def at(point, step):
    """Comes about if this is the point and the step of the fault."""
    if _fault and _fault["point"] == point and step >= _fault["step"]:
        if _fault.get("hang"):
            time.sleep(_fault["hang"])
            _fault["point"] = ""
            return
        os.kill(os.getpid(), signal.SIGKILL)


def install(job):
    """Places the points that are inside of the client."""
    rows, send = group.Group.rows, group.Group.send

    def faulty_rows(self, kind, values):
        at(f"before {kind.name}", job.step)
        found = rows(self, kind, values)
        at(f"after {kind.name}", job.step)
        return found

    def faulty_send(self, tensors, to):
        def some():
            for number, tensor in enumerate(tensors):
                if number == 2:
                    at("state", job.step)
                yield tensor

        send(self, some(), to)

    group.Group.rows, group.Group.send = faulty_rows, faulty_send
    assert state.TrainingState.send is not None
