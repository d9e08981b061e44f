"""Rules by which the learning rate follows the batch, by the names of ``adaptdl.torch.scaling_rules``.

The rule is one of the manifest, ``goodput.learningRate.scaling``; a script's own is ignored with a warning.
"""

from __future__ import annotations

from kastor.errors import UsageError

__all__ = ["AdaScale", "AdamScale", "LEGWScale", "LinearScale", "ScalingRuleBase", "SqrtScale"]


class ScalingRuleBase:
    """Rule of the manifest, by its name there."""

    manifest = "AdaScale, SquareRoot or Linear"


class AdaScale(ScalingRuleBase):
    """Rate that grows by the gain (ICML 2020)."""

    manifest = "AdaScale"


class AdamScale(ScalingRuleBase):
    """Rate of Adam that grows by the square root of the batch."""

    manifest = "SquareRoot"


class SqrtScale(ScalingRuleBase):
    """Rate that grows by the square root of the batch."""

    manifest = "SquareRoot"


class LinearScale(ScalingRuleBase):
    """Rate that grows by the batch."""

    manifest = "Linear"


class LEGWScale(ScalingRuleBase):
    """Rule that Kastor has not."""

    def __init__(self, *_: object) -> None:
        raise UsageError(
            "LEGWScale has no counterpart. Choose AdaScale, SquareRoot or Linear as goodput.learningRate.scaling."
        )
