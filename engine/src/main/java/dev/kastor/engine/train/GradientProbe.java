package dev.kastor.engine.train;

import java.util.Arrays;

/**
 * Coordinates of a gradient on which its noise is measured where the mean gradient itself is not
 * known, since codes or changes of the parameters are exchanged.
 *
 * <p>Of d coordinates m = d/256 are drawn, at least 64 or all: one at random from each of m parts
 * of equal length, by the seed of the job and the step, so that all replicas draw the same. As each
 * coordinate is as likely as any other, d/m times a sum of squares over them is an unbiased
 * estimate of the squared norm. The probe of a round of steps is as many times larger, since there
 * are so many times fewer of them. Immutable.
 */
public final class GradientProbe {
  private static final int COORDINATES_PER_DRAW = 256;
  private static final int LEAST_DRAWS = 64;

  /** Bits of a random number in [0, 1), so few that its sum with a draw's number is exact. */
  private static final int RANDOM_BITS = 24;

  private final int[] coordinates;
  private final double scale;

  private GradientProbe(int[] coordinates, double scale) {
    this.coordinates = coordinates;
    this.scale = scale;
  }

  /**
   * The probe of a step.
   *
   * @param length d, of the gradient
   * @param seed of the job
   * @param step steps applied before it
   * @param steps that it stands for, at least 1: those of its round
   */
  public static GradientProbe of(int length, long seed, long step, int steps) {
    long wanted = (long) steps * Math.max(LEAST_DRAWS, length / COORDINATES_PER_DRAW);
    int draws = (int) Math.min(length, wanted);
    long start = Mix64.mix(Mix64.mix(seed) + Mix64.GAMMA * (step + 1));
    int[] coordinates = new int[draws];
    for (int i = 0; i < draws; i++) {
      long random = Mix64.mix(start + Mix64.GAMMA * (i + 1)) >>> (Long.SIZE - RANDOM_BITS);
      double place = i + random / (double) (1 << RANDOM_BITS);
      coordinates[i] = (int) (place * length / draws);
    }
    return new GradientProbe(coordinates, draws == 0 ? 0 : (double) length / draws);
  }

  /** Number of draws. */
  public int size() {
    return coordinates.length;
  }

  /**
   * Copies the values of a vector at those coordinates that are in {@code [from, to)}.
   *
   * @param values one for each draw
   */
  public void read(float[] vector, int from, int to, float[] values) {
    for (int i = first(from); i < coordinates.length && coordinates[i] < to; i++) {
      values[i] = vector[coordinates[i]];
    }
  }

  /** Estimate of the squared norm of a vector from its values at the coordinates. */
  public double squaredNorm(float[] values) {
    double sum = 0;
    for (float value : values) {
      sum += (double) value * value;
    }
    return scale * sum;
  }

  /** The part of the same that comes from elements in {@code [from, to)} of a vector. */
  public double squaredNorm(float[] vector, int from, int to) {
    double sum = 0;
    for (int i = first(from); i < coordinates.length && coordinates[i] < to; i++) {
      sum += (double) vector[coordinates[i]] * vector[coordinates[i]];
    }
    return scale * sum;
  }

  /** The first draw at {@code from} or behind it. */
  private int first(int from) {
    int at = Arrays.binarySearch(coordinates, from);
    if (at < 0) {
      return -at - 1;
    }
    // Two parts may share the coordinate on their border.
    return at > 0 && coordinates[at - 1] == from ? at - 1 : at;
  }
}
