package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.JobState;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Slots that share devices: their replicas share the computing time of one GPU or core, so that a
 * further replica adds none. A slot beyond the devices is for a job that would wait without it.
 *
 * @param level for each pool the highest priority at which its devices all have work if each job of
 *     it and of higher ones has its fewest replicas; what one of those gains by another replica,
 *     others lose. {@link #NO_LEVEL} where devices are left
 */
@SuppressWarnings("ArrayRecordComponent") // made anew in each round, never compared
record Sharing(long[] level) {
  private static final long NO_LEVEL = Long.MIN_VALUE;

  /**
   * The sharing of a round.
   *
   * @param traits those of each job
   */
  static Sharing of(List<JobState> jobs, Scaling.Traits[] traits, Pools pools) {
    long[] level = new long[pools.count()];
    Arrays.fill(level, NO_LEVEL);
    for (int p = 0; p < level.length; p++) {
      if (pools.beyondDevices()[p] > 0) {
        level[p] = level(jobs, traits, pools, p);
      }
    }
    return new Sharing(level);
  }

  private static long level(List<JobState> jobs, Scaling.Traits[] traits, Pools pools, int pool) {
    Map<Integer, Long> fewest = new TreeMap<>(Comparator.reverseOrder());
    for (int j = 0; j < traits.length; j++) {
      JobState job = jobs.get(j);
      boolean here =
          job.allocation().isEmpty()
              ? job.spec().runsOn(pools.gpuType(pool))
              : pools.touches(job.allocation(), pool);
      if (here) {
        long slots = job.pinned() ? job.allocation().slots() : traits[j].fewestSlots();
        fewest.merge(job.spec().priority(), slots, Long::sum);
      }
    }
    long devices = (long) pools.slots()[pool] - pools.beyondDevices()[pool];
    for (Map.Entry<Integer, Long> each : fewest.entrySet()) {
      devices -= each.getValue();
      if (devices <= 0) {
        return each.getKey();
      }
    }
    return NO_LEVEL;
  }

  /** The pools in which this job gains nothing by more replicas than its fewest. */
  BitSet taken(JobState job) {
    BitSet taken = new BitSet();
    for (int p = 0; p < level.length; p++) {
      taken.set(p, job.spec().priority() <= level[p]);
    }
    return taken;
  }

  /**
   * Slots that bids may have together of those that are left: as many as there are devices for, and
   * no less than each its fewest.
   *
   * @param left free slots of each pool; changed
   */
  static int[] capacity(int[] left, Collection<Bid> bids, Pools pools) {
    for (int p = 0; p < left.length; p++) {
      if (pools.beyondDevices()[p] > 0) {
        long fewest = 0;
        for (Bid bid : bids) {
          fewest += bid.offers.fewest(p);
        }
        left[p] = (int) Math.min(left[p], Math.max(left[p] - pools.beyondDevices()[p], fewest));
      }
    }
    return left;
  }

  /** Whether bids hold more than they may have together: then not all can stay as it is. */
  static boolean exceeded(Collection<Bid> bids, int[] capacity, Pools pools) {
    long[] held = new long[capacity.length];
    for (Bid bid : bids) {
      if (bid.held >= 0) {
        held[bid.offers.pool()[bid.held]] += bid.offers.slots()[bid.held];
      }
    }
    for (int p = 0; p < held.length; p++) {
      if (pools.beyondDevices()[p] > 0 && held[p] > capacity[p]) {
        return true;
      }
    }
    return false;
  }
}
