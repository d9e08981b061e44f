package dev.kastor.simulator.event;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Nodes that are slower than the others of their type; nobody is told which.
 *
 * @param share of the nodes, rounded to whole ones, in [0, 1]
 * @param factor how many times longer a step takes there, at least 1
 */
public record Stragglers(double share, double factor) {
  /** There are none. */
  public static final Stragglers NONE = new Stragglers(0, 1);

  /** Keeps this draw apart from all others that follow from the same seed. */
  private static final long STREAM = 0x736c6f77L;

  public Stragglers {
    if (!(share >= 0 && share <= 1)) {
      throw new IllegalArgumentException(
          "the share of stragglers must lie between 0 and 1 but is " + share);
    }
    if (!(factor >= 1 && factor < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "stragglers must be at least 1 times slower but are " + factor);
    }
  }

  /** How many times longer a step takes on each of so many nodes. */
  double[] slowdowns(int nodes, long seed) {
    double[] slowdowns = new double[nodes];
    Arrays.fill(slowdowns, 1);
    SplittableRandom random = new SplittableRandom(seed ^ STREAM);
    int left = (int) Math.round(share * nodes);
    // Each node is drawn with the probability that leaves every choice of so many as likely.
    for (int n = 0; n < nodes && left > 0; n++) {
      if (random.nextDouble() * (nodes - n) < left) {
        slowdowns[n] = factor;
        left--;
      }
    }
    return slowdowns;
  }
}
