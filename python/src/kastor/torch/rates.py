"""Rule by which the learning rate follows the batch, for each kind of optimizer that one is known for."""

from __future__ import annotations

from typing import Any

import torch

RULES = {
    # Johnson et al., AdaScale SGD, ICML 2020 (arXiv:2007.05105): for SGD.
    "SGD": "AdaScale",
    # Malladi et al., On the SDEs and scaling rules for adaptive gradient algorithms, NeurIPS 2022 (arXiv:2205.10287):
    # the square root, for optimizers that divide by a mean of squared gradients.
    **dict.fromkeys(("Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "RMSprop"), "SquareRoot"),
    # The same by the names that other packages give them: apex, bitsandbytes, DeepSpeed, timm.
    **dict.fromkeys(("FusedAdam", "Adam8bit", "AdamW8bit", "PagedAdamW", "PagedAdamW8bit"), "SquareRoot"),
    **dict.fromkeys(("DeepSpeedCPUAdam", "AdamP", "RMSpropTF"), "SquareRoot"),
    # You et al., Large batch optimization for deep learning, ICLR 2020 (arXiv:1904.00962): the square root.
    **dict.fromkeys(("LAMB", "Lamb", "FusedLAMB"), "SquareRoot"),
}
"""Rules by the name of the optimizer's class or of one that it extends."""


def rule_for(optimizer: torch.optim.Optimizer) -> str | None:
    """Rule of an optimizer; None where none is known for its kind, such as Adadelta or Rprop."""
    kinds = type(unwrapped(optimizer)).__mro__
    return next((RULES[kind.__name__] for kind in kinds if kind.__name__ in RULES), None)


def unwrapped(optimizer: Any) -> Any:
    """Optimizer within those that only hand on to another one, as Accelerate's does."""
    while isinstance(inner := getattr(optimizer, "optimizer", None), torch.optim.Optimizer):
        optimizer = inner
    return optimizer
