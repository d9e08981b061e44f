package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.JobState;

/**
 * Exponent by which jobs of a cluster gain from more replicas, for those that were never measured
 * with several: {@code gain^exponent} is what they are believed to gain, {@code gain} being that of
 * replicas that need no synchronisation. It is the mean of what the models of the others say, and
 * of one more job whose exponent is {@value #USUAL}. It is above 0, so that slots that nobody else
 * wants are tried. Owned by a planning call.
 */
final class Scaling {
  /** That of a cluster of which nobody knows anything. */
  static final double USUAL = 0.8;

  /** Offers follow from it, and are not to be made anew for each small step. */
  private static final double STEP = 0.05;

  private double sum = USUAL;
  private int count = 1;

  /** Whether a job says something of it, and its offers do not depend on it. */
  static boolean knownBy(JobState job) {
    return job.model().isPresent() && job.maxProfiledReplicas() > 1;
  }

  /**
   * Takes in the offers of a job that knows; those within a node are compared with the smallest.
   */
  void add(JobState job, Offers offers, Pools pools) {
    int least = -1;
    int most = -1;
    for (int o = 0; o < offers.count(); o++) {
      int pool = offers.pool()[o];
      int replicas = offers.slots()[o] / job.spec().slotsPerReplica(pools.gpuType(pool));
      if (pool == offers.pool()[0]
          && replicas <= job.maxProfiledReplicas()
          && offers.slots()[o] <= pools.nodeSlots()[pool]) {
        least = least < 0 || offers.slots()[o] < offers.slots()[least] ? o : least;
        most = most < 0 || offers.slots()[o] > offers.slots()[most] ? o : most;
      }
    }
    if (least >= 0 && offers.slots()[most] > offers.slots()[least]) {
      double more = (double) offers.slots()[most] / offers.slots()[least];
      double gain = offers.rate()[most] / offers.rate()[least];
      sum += Math.clamp(Math.log(gain) / Math.log(more), 0, 1);
      count++;
    }
  }

  /** The exponent, in (0, 1]. */
  double exponent() {
    return STEP * Math.max(1, Math.round(sum / count / STEP));
  }
}
