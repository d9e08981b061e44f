package dev.kastor.simulator.bound;

/**
 * Size of a job in a pool, with the pace that it has there.
 *
 * @param pool index of the pool, or {@link #ANY_POOL}
 * @param slots that it takes
 * @param pace progress in a second, by epoch
 */
@SuppressWarnings("ArrayRecordComponent") // read in loops over millions of cells
record Way(int pool, int slots, double[] pace) {
  /** Slots of any pools, at once too. */
  static final int ANY_POOL = -1;
}
