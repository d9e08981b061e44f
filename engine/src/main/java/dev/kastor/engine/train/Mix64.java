package dev.kastor.engine.train;

/**
 * A 64-bit mixing function whose every output bit depends on every input bit.
 *
 * <p>The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, section 4, variant 13 of
 * Stafford); spelled out here because the order of examples must never depend on a library version.
 */
final class Mix64 {
  /** Odd, near 2^64 over the golden ratio: the step between successive inputs. */
  static final long GAMMA = 0x9e3779b97f4a7c15L;

  private Mix64() {}

  static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
