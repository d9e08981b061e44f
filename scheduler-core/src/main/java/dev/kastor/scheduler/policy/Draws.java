package dev.kastor.scheduler.policy;

import java.util.SplittableRandom;

/**
 * Cheap random draws for inner loops: chances and bounds scaled to 32 bits, one multiplication
 * each. Their bias is below 1e-9 for the bounds of a search. Deterministic in its generator; used
 * by one thread.
 */
final class Draws {
  private static final long HALF_WORD = 0xFFFF_FFFFL;

  private final SplittableRandom random;

  Draws(SplittableRandom random) {
    this.random = random;
  }

  /** A probability as a threshold for the upper or lower half of a draw. */
  static long chance(double probability) {
    return (long) (probability * 0x1p32);
  }

  /** 64 random bits: two halves to be compared with chances. */
  long next() {
    return random.nextLong();
  }

  static boolean upperHits(long draw, long chance) {
    return draw >>> 32 < chance;
  }

  static boolean lowerHits(long draw, long chance) {
    return (draw & HALF_WORD) < chance;
  }

  /** A uniform integer from 0 to below {@code bound}. */
  int below(int bound) {
    return (int) (((next() & HALF_WORD) * bound) >>> 32);
  }

  boolean hits(long chance) {
    return upperHits(next(), chance);
  }
}
