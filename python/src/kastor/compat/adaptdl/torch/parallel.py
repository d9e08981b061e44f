"""Models of a script, by the name of ``adaptdl.torch.parallel``."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any

import torch

from kastor.compat.adaptdl.torch.scaling_rules import ScalingRuleBase
from kastor.compat.adaptdl.torch.script import script
from kastor.noise import learning_rate_factor
from kastor.protocol import GradientStats

log = logging.getLogger("kastor")


@dataclass(frozen=True)
class _State:
    """State that belongs to a model."""

    model: torch.nn.Module
    optimizer: torch.optim.Optimizer
    lr_scheduler: Any
    mp_scaler: Any


class AdaptiveDataParallel(torch.nn.Module):
    """Model that is trained by all replicas; a script makes one for each of its optimizers.

    As with AdaptDL the script's model is the attribute ``module``, before which keys of ``state_dict`` have its name.
    Checkpoints and exports are of the script's model. What else ``DistributedDataParallel`` takes is ignored.

    Args:
        model: on this replica's device; its loss must be a mean over the examples of a batch.
        optimizer: its rates are those at the initial batch.
        lr_scheduler: of the optimizer.
        mp_scaler: a ``GradScaler``, the same of all models; a text stands for ``name``, as in older scripts.
        scaling_rule: ignored with a warning; ``goodput.learningRate.scaling`` of the manifest is used.
        name: of the model among several.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        lr_scheduler: Any | None = None,
        mp_scaler: Any = None,
        scaling_rule: ScalingRuleBase | None = None,
        name: str = "adaptdl-dataparallel",
        **_: Any,
    ) -> None:
        super().__init__()
        if isinstance(mp_scaler, str):
            mp_scaler, name = None, mp_scaler
        if scaling_rule is not None:
            log.warning(
                "scaling_rule is ignored: goodput.learningRate.scaling of the manifest is used, where it is called %s",
                getattr(scaling_rule, "manifest", "AdaScale, SquareRoot or Linear"),
            )
        self.module = model
        self.name = name
        self.scaling_rule = scaling_rule
        self.adascale = _Accumulation()
        self._state = _State(model, optimizer, lr_scheduler, mp_scaler)
        self._number = script.add(self)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Result of the script's model."""
        return self.module(*args, **kwargs)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the gradients, as ``zero_grad`` of the model's optimizer does."""
        self._state.optimizer.zero_grad(set_to_none)

    @property
    def gain(self) -> float:
        """Progress of a step at the batch in force, in steps at the initial batch; 1 until the noise is known."""
        return script.job.metrics().get("gain", 1.0) if script.prepared else 1.0

    def to_tensorboard(self, writer: Any, global_step: int, tag_prefix: str = "") -> None:
        """Writes the noise of the gradient, the gain and the progress as scalars; what is not known yet is left out."""
        job = script.job
        initial = script.loader.batch_size if script.loader is not None else 1
        rule, stats = job._training._scalings[self._number], self._stats()
        scalars = {
            "Gradient_Norm_Sqr": stats.squared_norm if stats else math.nan,
            "Gradient_Variance": stats.variance if stats else math.nan,
            "Gain": self.gain,
            "Learning_Rate_Factor": learning_rate_factor(rule, job.batch_size / initial, stats),
            "Accum_Scale": job.atomic_batch_size * job.replicas / initial,
            "Progress": job.scale_invariant_steps,
        }
        write_scalars(writer, scalars, global_step, tag_prefix)

    def _stats(self) -> GradientStats | None:
        state = script.job._training.members.state
        return state.noise.of(self._number).stats() if state is not None else None


class _Accumulation:
    """Passes of a step, by the name that a model has for its scaling rule."""

    def is_accumulation_step(self) -> bool:
        """Whether the pass in progress is followed by others of the same step."""
        return script.prepared and not script.job._training.reducer.last


def write_scalars(writer: Any, scalars: dict[str, float], global_step: int, tag_prefix: str) -> None:
    """Writes the scalars that are finite to a ``SummaryWriter``, with tags that begin with a prefix."""
    prefix = tag_prefix + "/" if tag_prefix and not tag_prefix.endswith("/") else tag_prefix
    for tag, value in scalars.items():
        if math.isfinite(value):
            writer.add_scalar(prefix + tag, value, global_step)
