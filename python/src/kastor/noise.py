"""Estimator of the gradient noise scale, and the rules by which the learning rate follows the batch."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kastor.protocol import GradientStats

DEFAULT_SMOOTHING = 0.995
"""Decay of the averages per observation at the initial batch: a memory of some 200 of them."""

_LEAST_OBSERVATIONS = 10
_OBSERVED_EACH_STEP, _STEPS_AN_OBSERVATION = 400, 4


class NoiseScaleEstimator:
    """Estimator of the squared norm and the variance of the gradient while training runs.

    A step has n groups (replicas times passes) of M/n examples each, with mean gradients g_i; their
    mean is g. With M0 the initial batch::

        |G|^2 ~ (n |g|^2 - mean |g_i|^2) / (n - 1)
        V/M0  ~ (mean |g_i|^2 - |g|^2) / (n - 1) * M/M0

    (McCandlish et al., 2018, arXiv:1812.06162, appendix A.1; AdaScale, ICML 2020, section 3.3;
    Pollux, OSDI 2021, section 3.1.) With one group the gradients a and b of two successive steps of
    M_a and M_b examples take the place of the groups (Pollux, section 4.1)::

        |G|^2 ~ a . b        V/M0 ~ |a - b|^2 / (M0 (1/M_a + 1/M_b))

    Both are averaged over observations with decay ``smoothing^(M/M0)``, corrected for their start at zero;
    only the averages are divided, as a ratio of noisy estimates would be biased. All replicas that
    observe the same values hold the same state to the bit.
    """

    def __init__(self, initial_batch: int, smoothing: float = DEFAULT_SMOOTHING) -> None:
        if initial_batch < 1:
            raise ValueError(f"initial_batch must be at least 1 but is {initial_batch}.")
        if not 0 <= smoothing < 1:
            raise ValueError(f"smoothing must be at least 0 and below 1 but is {smoothing}.")
        self.initial_batch = initial_batch
        self._smoothing = smoothing
        self._squared_norm = self._variance = self._weight = self._observations = 0.0

    def observe(
        self,
        groups: int,
        mean_group_squared_norm: float,
        mean_squared_norm: float,
        global_batch: int,
    ) -> None:
        """Observes a step of at least two groups.

        Args:
            groups: replicas times passes.
            mean_group_squared_norm: mean over groups of the squared norm of the group's gradient.
            mean_squared_norm: squared norm of the mean gradient of the whole step.
            global_batch: examples of the step, the same number in each group.
        """
        if groups < 2:
            raise ValueError(f"groups must be at least 2 but is {groups}: use observe_pair.")
        scale = global_batch / self.initial_batch
        self._average(
            (groups * mean_squared_norm - mean_group_squared_norm) / (groups - 1),
            (mean_group_squared_norm - mean_squared_norm) / (groups - 1) * scale,
            scale,
        )

    def observe_pair(
        self,
        product: float,
        squared_distance: float,
        global_batch: int,
        previous_global_batch: int,
    ) -> None:
        """Observes a step of one group by its gradient's product with, and distance from, the one before."""
        spread = self.initial_batch * (1.0 / global_batch + 1.0 / previous_global_batch)
        self._average(product, squared_distance / spread, global_batch / self.initial_batch)

    def _average(self, squared_norm: float, variance: float, scale: float) -> None:
        if not (math.isfinite(squared_norm) and math.isfinite(variance)):
            # One step that overflowed must not spoil the averages for good.
            return
        keep = self._smoothing**scale
        self._squared_norm = keep * self._squared_norm + (1 - keep) * squared_norm
        self._variance = keep * self._variance + (1 - keep) * variance
        self._weight = keep * self._weight + (1 - keep)
        self._observations += 1

    def stats(self) -> GradientStats | None:
        """Statistics known so far; None until enough steps were observed. Averages below 0 count as 0."""
        if self._observations < _LEAST_OBSERVATIONS or self._weight <= 0:
            return None
        return GradientStats(
            max(0.0, self._squared_norm / self._weight),
            max(0.0, self._variance / self._weight),
            self.initial_batch,
        )

    def is_due(self, step: int) -> bool:
        """Whether a step is to be observed, by its number: each of the first 400, then one of four.

        The noise changes most at first, and the two norms of an observation are passes over all gradients.
        """
        return self._observations < _OBSERVED_EACH_STEP or step % _STEPS_AN_OBSERVATION == 0

    def state(self) -> list[float]:
        """State of the averages, for a checkpoint."""
        return [self._squared_norm, self._variance, self._weight, self._observations]

    def restore(self, state: Sequence[float]) -> None:
        """Takes over the state of another estimator."""
        if len(state) != 4:
            raise ValueError(f"The state of an estimator has 4 numbers, not {len(state)}.")
        self._squared_norm, self._variance, self._weight, self._observations = map(float, state)


class JointNoise:
    """Noise of the gradients of one or several optimizers: each has an estimator, and their sums stand for all."""

    def __init__(self, initial_batch: int, optimizers: int = 1) -> None:
        self.initial_batch = initial_batch
        self._each = [NoiseScaleEstimator(initial_batch) for _ in range(optimizers)]

    def of(self, optimizer: int) -> NoiseScaleEstimator:
        """Estimator of an optimizer, by its place."""
        return self._each[optimizer]

    def stats(self) -> GradientStats | None:
        """Statistics of all gradients together; None until those of each are known."""
        known = [stats for stats in (each.stats() for each in self._each) if stats is not None]
        if len(known) < len(self._each):
            return None
        return GradientStats(
            sum(stats.squared_norm for stats in known), sum(stats.variance for stats in known), self.initial_batch
        )

    def gain(self, global_batch: int) -> float:
        """Gain of a step; until the noise is known, a larger batch is taken to bring no more than M0."""
        known = self.stats()
        return known.gain(global_batch) if known else min(1.0, global_batch / self.initial_batch)

    def state(self) -> list[float]:
        """State of the averages, for a checkpoint."""
        return [number for each in self._each for number in each.state()]

    def restore(self, state: Sequence[float]) -> None:
        """Takes over the state of the same number of estimators."""
        share, rest = divmod(len(state), len(self._each))
        if rest:
            raise ValueError(f"The state of {len(self._each)} estimators cannot have {len(state)} numbers.")
        for number, each in enumerate(self._each):
            each.restore(state[number * share : (number + 1) * share])


SCALING_RULES = ("AdaScale", "SquareRoot", "Linear", "None")
"""Names of ``spec.goodput.learningRate.scaling``."""


def learning_rate_factor(rule: str, scale: float, stats: GradientStats | None) -> float:
    """Factor on the learning rate at ``scale`` times the initial batch.

    ``AdaScale``: the gain (ICML 2020, algorithm 1), 1 until the noise is known; ``SquareRoot``: for
    Adam and its kind (Krizhevsky, 2014, arXiv:1404.5997, section 5); ``Linear``: Goyal et al., 2017,
    arXiv:1706.02677, section 2.1; ``None``: 1.
    """
    if rule == "AdaScale":
        return stats.gain(scale * stats.initial_batch) if stats else 1.0
    if rule == "SquareRoot":
        return math.sqrt(scale)
    if rule == "Linear":
        return scale
    if rule == "None":
        return 1.0
    raise ValueError(f"goodput.learningRate.scaling is '{rule}' but must be one of {', '.join(SCALING_RULES)}.")
