"""Measurements of the training, by the one name of ``adaptdl.torch._metrics`` that scripts use."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kastor.compat.adaptdl.torch.script import script


@dataclass(frozen=True)
class _Metrics:
    """Squared norm and variance of the gradient at the initial batch, NaN until they are known; progress in steps."""

    grad_params: tuple[float, float]
    progress: float


def _metrics_state() -> _Metrics:
    """Measurements up to now, over all models."""
    state = script.job._training.members.state
    stats = state.noise.stats() if state is not None else None
    found = (stats.squared_norm, stats.variance) if stats is not None else (math.nan, math.nan)
    return _Metrics(found, script.job.scale_invariant_steps)
