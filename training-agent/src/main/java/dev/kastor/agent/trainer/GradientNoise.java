package dev.kastor.agent.trainer;

import dev.kastor.engine.train.NoiseScaleEstimator;
import dev.kastor.protocol.GradientStats;
import java.util.Optional;
import java.util.function.Consumer;

/** What the gradients of a replica's steps say about the worth of larger batches. */
final class GradientNoise {
  private final int initialBatch;
  private final NoiseScaleEstimator estimator;

  GradientNoise(int initialBatch) {
    this.initialBatch = initialBatch;
    this.estimator = new NoiseScaleEstimator(initialBatch, NoiseScaleEstimator.DEFAULT_SMOOTHING);
  }

  Optional<GradientStats> stats() {
    return estimator.stats();
  }

  double[] state() {
    return estimator.state();
  }

  void restore(double[] state) {
    estimator.restore(state);
  }

  /** A batch over the initial one. */
  double batchScale(int globalBatch) {
    return (double) globalBatch / initialBatch;
  }

  /**
   * Steps of the initial batch that a step is worth. Until the noise is known, a larger batch is
   * taken to bring no more than the initial one.
   */
  double gain(int globalBatch) {
    return stats()
        .map(known -> known.gain(globalBatch))
        .orElse(Math.min(1, batchScale(globalBatch)));
  }

  /**
   * Observes a step.
   *
   * @param single observes its gradient where it has one group
   * @param groups replicas times passes
   * @param squaredNorms sum of the squared norms of their gradients
   * @param squaredNorm of the mean of these
   */
  void observe(
      Consumer<NoiseScaleEstimator> single,
      int groups,
      double squaredNorms,
      double squaredNorm,
      int globalBatch) {
    if (groups == 1) {
      single.accept(estimator);
    } else {
      estimator.observe(groups, squaredNorms / groups, squaredNorm, globalBatch);
    }
  }
}
