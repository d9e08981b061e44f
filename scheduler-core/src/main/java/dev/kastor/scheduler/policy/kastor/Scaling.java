package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.JobState;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Belief about replicas that were never measured, in one round. The model of a job that ran with
 * few says that more gain without loss. Where slots are free, that is a reason to try them. Where
 * jobs wait even if each had its fewest slots, a trial costs another job its place: there jobs
 * begin with their fewest replicas, and more replicas gain what those of other jobs did. Jobs of
 * lower priorities do not count.
 *
 * @param crowded the highest priority at which not all jobs of it and of higher ones could run,
 *     were each at its fewest slots; empty where all could
 * @param loss exponent of what is lost there: {@code k} times the replicas that were measured gain
 *     {@code k^-loss} of what the model says. In [0, 1]
 * @param sharing in which pools replicas share devices that all have work
 */
record Scaling(OptionalInt crowded, double loss, Sharing sharing) {
  /** That of a cluster in which no job was measured with several replicas; counts as one job. */
  private static final double USUAL_LOSS = 0.1;

  /** Offers follow from the loss, and are not to be made anew for each small step of it. */
  private static final double STEPS = 20;

  /**
   * What is believed in a round over these jobs.
   *
   * @param traits those of each job
   */
  static Scaling of(List<JobState> jobs, Traits[] traits, Pools pools) {
    OptionalInt crowded = crowded(jobs, traits, pools);
    return new Scaling(
        crowded, crowded.isEmpty() ? 0 : loss(traits), Sharing.of(jobs, traits, pools));
  }

  private static OptionalInt crowded(List<JobState> jobs, Traits[] traits, Pools pools) {
    Map<Integer, Long> fewest = new TreeMap<>(Comparator.reverseOrder());
    for (int j = 0; j < traits.length; j++) {
      JobState job = jobs.get(j);
      long slots = job.pinned() ? job.allocation().slots() : traits[j].fewestSlots();
      fewest.merge(job.spec().priority(), slots, Long::sum);
    }
    long left = IntStream.of(pools.slots()).asLongStream().sum();
    for (Map.Entry<Integer, Long> level : fewest.entrySet()) {
      left -= level.getValue();
      if (left < 0) {
        return OptionalInt.of(level.getKey());
      }
    }
    return OptionalInt.empty();
  }

  private static double loss(Traits[] traits) {
    double sum = USUAL_LOSS;
    int count = 1;
    for (Traits job : traits) {
      if (!Double.isNaN(job.loss())) {
        sum += job.loss();
        count++;
      }
    }
    return Math.round(sum / count * STEPS) / STEPS;
  }

  /**
   * What follows from a job's spec, its model and the cluster alone.
   *
   * @param fewestSlots slots of the smallest size in which it can train; 0 if there is none
   * @param loss what it loses by replicas within a node that it was measured with; not a number
   *     where it has no model or was measured with one replica alone
   */
  record Traits(int fewestSlots, double loss) {
    static Traits of(JobState job, Pools pools) {
      return new Traits(fewestSlots(job, pools), loss(job, pools));
    }

    private static int fewestSlots(JobState job, Pools pools) {
      int fewest = 0;
      for (int pool = 0; pool < pools.count(); pool++) {
        int[] sizes = Menu.slots(job.spec(), OfferBook.most(job.spec()), pools, pool);
        if (sizes.length > 0
            && (fewest == 0 || sizes[0] < fewest)
            && rate(job, pools, pool, sizes[0]) > 0) {
          fewest = sizes[0];
        }
      }
      return fewest;
    }

    private static double loss(JobState job, Pools pools) {
      for (int pool = 0; pool < pools.count() && job.model().isPresent(); pool++) {
        String type = pools.gpuType(pool);
        int each = job.spec().slotsPerReplica(type);
        int replicas = Math.min(job.maxProfiledReplicas(), pools.nodeSlots()[pool] / each);
        if (replicas > 1 && job.model().get().knows(type)) {
          double one = rate(job, pools, pool, each);
          double several = rate(job, pools, pool, replicas * each);
          if (one > 0 && several > 0) {
            return Math.clamp(1 - Math.log(several / one) / Math.log(replicas), 0, 1);
          }
        }
      }
      return Double.NaN;
    }

    private static double rate(JobState job, Pools pools, int pool, int slots) {
      return Rates.rate(job, pools, pool, slots, Math.ceilDiv(slots, pools.nodeSlots()[pool]));
    }
  }

  /** Whether a trial of this job would cost one of its own or of a higher priority its place. */
  boolean crowds(JobState job) {
    return crowded.isPresent() && job.spec().priority() <= crowded.getAsInt();
  }

  /** What is believed of one job. */
  Belief of(JobState job) {
    BitSet taken = sharing.taken(job);
    return loss > 0 && job.maxProfiledReplicas() > 0 && crowds(job)
        ? new Belief(loss, job.maxProfiledReplicas(), taken)
        : new Belief(0, Integer.MAX_VALUE, taken);
  }

  /**
   * What is believed of a job's replicas.
   *
   * @param loss exponent of what is lost beyond those that were measured
   * @param measured most replicas that were measured
   * @param taken pools in which further replicas add nothing
   */
  record Belief(double loss, int measured, BitSet taken) {
    /**
     * Share that is believed of what the job's model says of so many replicas.
     *
     * @param fewest replicas that it has at least
     */
    double share(int replicas, int fewest, int pool) {
      if (taken.get(pool)) {
        return Math.min(1, (double) fewest / replicas);
      }
      return replicas <= measured ? 1 : Math.pow((double) replicas / measured, -loss);
    }
  }
}
