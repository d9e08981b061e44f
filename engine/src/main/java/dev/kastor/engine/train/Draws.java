package dev.kastor.engine.train;

/**
 * Random numbers by their place: each depends on a seed, a stream and an index alone, so that all
 * replicas draw the same ones, however their steps are cut and whatever they drew before.
 */
public final class Draws {
  private static final int BITS = 53;

  private Draws() {}

  /**
   * A number in [0, 1), a multiple of 2^-53.
   *
   * @param stream keeps the draws of one purpose apart from those of others
   */
  public static double uniform(long seed, long stream, long index) {
    long mixed = Mix64.mix(Mix64.mix(seed ^ stream) + (index + 1) * Mix64.GAMMA);
    return (mixed >>> (Long.SIZE - BITS)) * 0x1p-53;
  }
}
