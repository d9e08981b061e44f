package dev.kastor.scheduler.policy.support;

import java.util.SplittableRandom;

/**
 * Draws for inner loops, cheap ones: chances and bounds scaled to 32 bits, one multiplication each.
 * Their bias is below 1e-9 for the bounds of a search. Deterministic in its generator; used by one
 * thread.
 */
public final class Draws {
  private static final long HALF_WORD = 0xFFFF_FFFFL;

  private final SplittableRandom random;

  /** Draws from a generator. */
  public Draws(SplittableRandom random) {
    this.random = random;
  }

  /** A probability as a threshold for the upper or lower half of a draw. */
  public static long chance(double probability) {
    return (long) (probability * 0x1p32);
  }

  /** 64 random bits: two halves to be compared with chances. */
  public long next() {
    return random.nextLong();
  }

  /** Whether the upper half of a draw is below a chance. */
  public static boolean upperHits(long draw, long chance) {
    return draw >>> 32 < chance;
  }

  /** Whether the lower half of a draw is below a chance. */
  public static boolean lowerHits(long draw, long chance) {
    return (draw & HALF_WORD) < chance;
  }

  /** A uniform integer from 0 to below {@code bound}. */
  public int below(int bound) {
    return (int) (((next() & HALF_WORD) * bound) >>> 32);
  }

  /** Whether a draw of its own is below a chance. */
  public boolean hits(long chance) {
    return upperHits(next(), chance);
  }
}
