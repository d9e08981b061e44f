package dev.kastor.scheduler.policy.pollux;

import java.util.Arrays;

/**
 * Storage for the allocation matrices of a search and what is known of each, by slot. Slots are
 * used again from generation to generation, so that a search allocates once. Owned by its search.
 */
final class Genomes {
  /** Packed rows of all jobs: those of slot s begin at {@code s * stride}. */
  final long[] cells;

  /** Words of one genome. */
  final int stride;

  /** The first objective, larger is better. */
  final double[] fitness;

  /** The second objective, larger is better. */
  final double[] utility;

  /** Front and crowding distance at the last ranking. */
  final int[] rank;

  final double[] crowding;

  private final long[] known;

  Genomes(int slots, int stride) {
    this.stride = stride;
    cells = new long[slots * stride];
    fitness = new double[slots];
    utility = new double[slots];
    rank = new int[slots];
    crowding = new double[slots];
    known = new long[Integer.highestOneBit(Math.max(4 * slots, 16)) * 2];
  }

  /** Forgets which genomes are known. */
  void forget() {
    Arrays.fill(known, 0);
  }

  /**
   * Remembers the genome of a slot by its 64-bit hash; false if it was known. Two different ones
   * are taken for one with a chance of 1e-14 in a search.
   */
  boolean remember(int slot) {
    long hash = hash(slot);
    int mask = known.length - 1;
    for (int at = (int) hash & mask; ; at = (at + 1) & mask) {
      if (known[at] == hash) {
        return false;
      }
      if (known[at] == 0) {
        known[at] = hash;
        return true;
      }
    }
  }

  private long hash(int slot) {
    long hash = 0x9E3779B97F4A7C15L;
    for (int at = slot * stride; at < (slot + 1) * stride; at++) {
      hash = (hash ^ cells[at]) * 0xD6E8FEB86659FD93L;
      hash ^= hash >>> 32;
    }
    return hash == 0 ? 1 : hash;
  }

  /** Whether the first of two slots is at least as good in both objectives and better in one. */
  boolean dominates(int one, int other) {
    return fitness[one] >= fitness[other]
        && utility[one] >= utility[other]
        && (fitness[one] > fitness[other] || utility[one] > utility[other]);
  }
}
