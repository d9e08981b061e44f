package dev.kastor.scheduler.policy.kastor;

/**
 * What a job may get. Immutable.
 *
 * @param pool pool of each offer
 * @param slots slots of each offer
 * @param rate effective examples a second of each; relative where the job was never measured
 * @param fullRate the rate of the best size that the job may ever have, measured or not
 */
@SuppressWarnings("ArrayRecordComponent") // read by every look at the market, never compared
record Offers(int[] pool, int[] slots, double[] rate, double fullRate) {
  int count() {
    return pool.length;
  }

  /** The offer of exactly so many slots of a pool; -1 if there is none. */
  int find(int wantedPool, int wantedSlots) {
    for (int o = 0; o < pool.length; o++) {
      if (pool[o] == wantedPool && slots[o] == wantedSlots) {
        return o;
      }
    }
    return -1;
  }

  /** Slots of the smallest offer of a pool; 0 if there is none. */
  int fewest(int wantedPool) {
    int fewest = 0;
    for (int o = 0; o < pool.length; o++) {
      if (pool[o] == wantedPool && (fewest == 0 || slots[o] < fewest)) {
        fewest = slots[o];
      }
    }
    return fewest;
  }
}
