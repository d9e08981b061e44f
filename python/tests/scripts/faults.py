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
    send_row, wait, send = group.Group.send_row, group.Rows.wait, group.Group.send

    def faulty_send_row(self, kind, values, along=None):
        at(f"before {kind.name}", job.step)
        return send_row(self, kind, values, along)

    def faulty_wait(self):
        found = wait(self)
        at(f"after {self.kind.name}", job.step)
        return found

    def faulty_send(self, tensors, to):
        def some():
            for number, tensor in enumerate(tensors):
                if number == 2:
                    at("state", job.step)
                yield tensor

        send(self, some(), to)

    group.Group.send_row, group.Rows.wait, group.Group.send = faulty_send_row, faulty_wait, faulty_send
    assert state.TrainingState.send is not None


_indices = []
_step = 0


def record(job, indices, model):
    """Writes down what the step before trained on, at the next pass; for loops that belong to a framework."""
    global _step
    if job._training.counters.step > _step:
        flush(job, model)
    elif job._training.reducer._first and not job._training.reducer.done:
        _indices.clear()  # the step is taken again
    _indices.extend(indices.tolist())
    if not os.path.exists(os.environ["HURRY"]):
        time.sleep(0.05)


def flush(job, model):
    """Writes down the last step."""
    global _step
    if _indices and job.step == _step + 1:
        with open(os.environ["RECORD"], "a") as file:
            print(json.dumps({"step": _step, "examples": list(_indices)}), file=file)
    _indices.clear()
    _step = job.step
