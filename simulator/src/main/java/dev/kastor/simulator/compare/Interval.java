package dev.kastor.simulator.compare;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.apache.commons.math3.distribution.TDistribution;

/**
 * A value and the 95 % confidence interval around it.
 *
 * @param value the estimate
 * @param low lower end; not a number where one sample says nothing of the spread
 * @param high upper end, likewise
 */
public record Interval(double value, double low, double high) {
  private static final double LEVEL = 0.95;
  private static final int RESAMPLES = 10_000;
  private static final long SEED = 1;

  /** The mean, with the interval of Student's t over the samples: a paired t of differences. */
  public static Interval ofMean(double[] samples) {
    double mean = Arrays.stream(samples).average().orElse(Double.NaN);
    if (samples.length < 2) {
      return new Interval(mean, Double.NaN, Double.NaN);
    }
    double squares = Arrays.stream(samples).map(x -> (x - mean) * (x - mean)).sum();
    double error = Math.sqrt(squares / (samples.length - 1) / samples.length);
    double t = new TDistribution(samples.length - 1).inverseCumulativeProbability((1 + LEVEL) / 2);
    return new Interval(mean, mean - t * error, mean + t * error);
  }

  /**
   * The mean of b over the mean of a, with the percentile interval of a bootstrap over pairs:
   * 10,000 resamples from a fixed seed.
   */
  public static Interval ofRatio(double[] a, double[] b) {
    double value = Arrays.stream(b).sum() / Arrays.stream(a).sum();
    if (a.length < 2) {
      return new Interval(value, Double.NaN, Double.NaN);
    }
    SplittableRandom random = new SplittableRandom(SEED);
    double[] ratios = new double[RESAMPLES];
    for (int r = 0; r < RESAMPLES; r++) {
      double sumA = 0;
      double sumB = 0;
      for (int i = 0; i < a.length; i++) {
        int pick = random.nextInt(a.length);
        sumA += a[pick];
        sumB += b[pick];
      }
      ratios[r] = sumB / sumA;
    }
    Arrays.sort(ratios);
    return new Interval(
        value,
        ratios[(int) ((1 - LEVEL) / 2 * RESAMPLES)],
        ratios[(int) ((1 + LEVEL) / 2 * RESAMPLES) - 1]);
  }

  /** Whether it is known to differ from a value. */
  public boolean excludes(double other) {
    return low > other || high < other;
  }
}
