package dev.kastor.protocol;

/**
 * What a job knows about the noise of its gradient, normalised to its initial batch M0.
 *
 * <p>The gradient noise scale in examples is {@code initialBatch * variance / squaredNorm} (Pollux,
 * OSDI 2021, section 3.1; AdaScale, ICML 2020).
 *
 * @param squaredNorm estimate of the squared norm of the true gradient, at least 0
 * @param variance estimate of the trace of the covariance of the mean gradient of {@code
 *     initialBatch} examples, at least 0
 * @param initialBatch M0 in examples
 */
public record GradientStats(double squaredNorm, double variance, int initialBatch) {
  /** The square of the largest float: a norm above it was not measured. */
  private static final double MOST_NORM = 1.2e77;

  public GradientStats {
    Check.atMost("gradient.squaredNorm", squaredNorm, MOST_NORM);
    Check.atMost("gradient.variance", variance, MOST_NORM);
    Check.atLeast("gradient.initialBatch", initialBatch, 1);
  }

  /**
   * AdaScale's gain r of one step at {@code globalBatch} examples, between 1 and the scale M/M0.
   */
  public double gain(double globalBatch) {
    double scale = globalBatch / initialBatch;
    double denominator = variance / scale + squaredNorm;
    return denominator > 0 ? (variance + squaredNorm) / denominator : 1;
  }

  /** Statistical efficiency of {@code globalBatch} relative to M0, in (0, 1] for M at least M0. */
  public double efficiency(double globalBatch) {
    return gain(globalBatch) * initialBatch / globalBatch;
  }

  /** The gradient noise scale in examples; infinite while no signal is seen. */
  public double noiseScale() {
    return squaredNorm > 0 ? initialBatch * variance / squaredNorm : Double.POSITIVE_INFINITY;
  }
}
