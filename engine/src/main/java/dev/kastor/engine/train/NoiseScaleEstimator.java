package dev.kastor.engine.train;

import dev.kastor.protocol.GradientStats;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Estimates the squared norm and the variance of the gradient while training runs.
 *
 * <p>Model: an example's gradient has mean G and a covariance with trace V. A step has n groups
 * (replicas times passes) of M/n examples each, with mean gradients g_i; their mean is g. Then
 * {@code E|g_i|^2 = |G|^2 + nV/M} and {@code E|g|^2 = |G|^2 + V/M}. Solved for the two unknowns,
 * with M0 the initial batch:
 *
 * <pre>
 * |G|^2 ~ (n |g|^2 - mean |g_i|^2) / (n - 1)
 * V/M0  ~ (mean |g_i|^2 - |g|^2) / (n - 1) * M/M0
 * </pre>
 *
 * (McCandlish et al., 2018, arXiv:1812.06162, appendix A.1; AdaScale, ICML 2020, section 3.3;
 * Pollux, OSDI 2021, section 3.1.) Both are unbiased for every n above 1 and every M.
 *
 * <p>With one group the gradients of two successive steps, a of M_a and b of M_b examples, take the
 * place of the groups (Pollux, section 4.1), written for unequal batches:
 *
 * <pre>
 * |G|^2 ~ a . b
 * V/M0  ~ |a - b|^2 / (M0 (1/M_a + 1/M_b))
 * </pre>
 *
 * That takes G for unchanged between the two steps; what it did change is counted as noise.
 *
 * <p>Both quantities are averaged over steps, each by itself, and only the averages are divided: a
 * ratio of noisy estimates would be biased. The averages are exponential with decay {@code
 * smoothing^(M/M0)}, as a larger batch tells more, and corrected for their start at zero.
 *
 * <p>The plain gradient is observed whatever the optimizer; for Adam, Pollux would divide by the
 * root of the second moment first. The result is then a guide to the batch size rather than the
 * exact gain, which is why the square-root rule suits Adam better.
 *
 * <p>Not thread-safe. All replicas that observe the same values hold the same state to the bit.
 */
public final class NoiseScaleEstimator {
  /** Length of {@link #state}. */
  public static final int STATE_LENGTH = 4;

  /** Decay of the averages per step at the initial batch: a memory of some 200 steps. */
  public static final double DEFAULT_SMOOTHING = 0.995;

  /** Fewer observations than this say nothing yet. */
  private static final int LEAST_OBSERVATIONS = 10;

  private final int initialBatch;
  private final double smoothing;

  private double squaredNorm;
  private double variance;

  /** Sum of the weights in the two averages; what they must be divided by. */
  private double weight;

  private double observations;

  /** Whose kept gradient is that of the step before; null if none is. */
  private @Nullable Successive previous;

  private int previousBatch;

  /** Gradients that were given as arrays; null while there are none. */
  private @Nullable HostGradients onHost;

  /**
   * An estimator that has seen nothing.
   *
   * @param initialBatch M0 in examples
   * @param smoothing decay of the averages at the initial batch, in [0, 1)
   */
  public NoiseScaleEstimator(int initialBatch, double smoothing) {
    if (initialBatch < 1) {
      throw new IllegalArgumentException(
          "initialBatch must be at least 1 but is %d.".formatted(initialBatch));
    }
    if (!(smoothing >= 0 && smoothing < 1)) {
      throw new IllegalArgumentException(
          "smoothing must be at least 0 and below 1 but is %s.".formatted(smoothing));
    }
    this.initialBatch = initialBatch;
    this.smoothing = smoothing;
  }

  /**
   * Observes a step of several groups.
   *
   * @param groups replicas times passes, at least 2
   * @param meanGroupSquaredNorm mean over groups of the squared norm of the group's mean gradient
   * @param meanSquaredNorm squared norm of the mean gradient of the whole step
   * @param globalBatch examples of the step, the same number in each group
   */
  public void observe(
      int groups, double meanGroupSquaredNorm, double meanSquaredNorm, int globalBatch) {
    if (groups < 2) {
      throw new IllegalArgumentException(
          "groups must be at least 2 but is %d: use observeSingle.".formatted(groups));
    }
    // What came before is older than one step when a single group returns.
    forgetPrevious();
    double scale = (double) globalBatch / initialBatch;
    average(
        (groups * meanSquaredNorm - meanGroupSquaredNorm) / (groups - 1),
        (meanGroupSquaredNorm - meanSquaredNorm) / (groups - 1) * scale,
        scale);
  }

  /** Gradients of successive steps of one group, in whatever memory. */
  public interface Successive {
    /** Compares the newest gradient with the one that was kept. */
    Compared compared();

    /** Keeps the newest gradient. */
    void keep();
  }

  /**
   * A gradient and one before it.
   *
   * @param product scalar product of both
   * @param squaredDistance squared norm of their difference
   */
  public record Compared(double product, double squaredDistance) {}

  /**
   * Observes a step of one group: one replica, no accumulation.
   *
   * @param gradient mean gradient of the step; copied
   */
  public void observeSingle(float[] gradient, int globalBatch) {
    HostGradients own = onHost;
    if (own == null || own.previous.length != gradient.length) {
      own = new HostGradients(gradient.length);
      onHost = own;
    }
    own.newest = gradient;
    observeSingle(own, globalBatch);
    own.newest = own.previous;
  }

  /**
   * The same where the gradients are elsewhere.
   *
   * @param gradients always the same object for gradients that are kept in the same place
   */
  @SuppressWarnings("ReferenceEquality") // the object stands for the place
  public void observeSingle(Successive gradients, int globalBatch) {
    if (previous == gradients) {
      Compared compared = gradients.compared();
      double scale = (double) globalBatch / initialBatch;
      average(
          compared.product(),
          compared.squaredDistance() / (initialBatch * (1.0 / globalBatch + 1.0 / previousBatch)),
          scale);
    }
    gradients.keep();
    previous = gradients;
    previousBatch = globalBatch;
  }

  /** Those in arrays. */
  private static final class HostGradients implements Successive {
    private final float[] previous;
    private float[] newest;

    HostGradients(int length) {
      previous = new float[length];
      newest = previous;
    }

    @Override
    public Compared compared() {
      double product = 0;
      double squaredDistance = 0;
      for (int i = 0; i < newest.length; i++) {
        double now = newest[i];
        double before = previous[i];
        product += now * before;
        squaredDistance += (now - before) * (now - before);
      }
      return new Compared(product, squaredDistance);
    }

    @Override
    public void keep() {
      System.arraycopy(newest, 0, previous, 0, previous.length);
    }
  }

  private void average(double squaredNormNow, double varianceNow, double scale) {
    if (!Double.isFinite(squaredNormNow) || !Double.isFinite(varianceNow)) {
      // One overflowing step must not spoil the averages for good.
      return;
    }
    double keep = Math.pow(smoothing, scale);
    squaredNorm = keep * squaredNorm + (1 - keep) * squaredNormNow;
    variance = keep * variance + (1 - keep) * varianceNow;
    weight = keep * weight + (1 - keep);
    observations++;
  }

  /** What is known; empty until enough steps were observed. An average below 0 counts as 0. */
  public Optional<GradientStats> stats() {
    if (observations < LEAST_OBSERVATIONS || weight <= 0) {
      return Optional.empty();
    }
    return Optional.of(
        new GradientStats(
            Math.max(0, squaredNorm / weight), Math.max(0, variance / weight), initialBatch));
  }

  /** The averages, for {@link TrainingState#NOISE}; without the previous gradient. */
  public double[] state() {
    return new double[] {squaredNorm, variance, weight, observations};
  }

  /**
   * Takes over averages. The previous gradient is dropped: after a change of members the next
   * single-group step only starts a new pair.
   *
   * @param state of {@link #state}
   * @throws IllegalArgumentException if it has another length
   */
  public void restore(double[] state) {
    if (state.length != STATE_LENGTH) {
      throw new IllegalArgumentException(
          "The state of a noise-scale estimator has %d numbers, not %d."
              .formatted(STATE_LENGTH, state.length));
    }
    squaredNorm = state[0];
    variance = state[1];
    weight = state[2];
    observations = state[3];
    forgetPrevious();
  }

  private void forgetPrevious() {
    previous = null;
    onHost = null;
  }
}
