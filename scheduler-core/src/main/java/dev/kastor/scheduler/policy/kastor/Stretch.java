package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.JobState;

/**
 * Expected finish-time fairness of a job (Themis, NSDI 2020): its completion time, were it to train
 * on an equal share of the cluster from now on, over what it would have been with that share from
 * the beginning. Above 1 it has had less than its share so far.
 */
final class Stretch {
  private Stretch() {}

  /**
   * The expected ratio.
   *
   * @param left seconds that the job would take at its best size
   * @param done share of its work that it has done
   * @param share slots of an equal share
   */
  static double of(JobState job, Offers offers, double left, double done, double share) {
    double age = job.age().toNanos() * 1e-9;
    double pause = job.restartCost().toNanos() * 1e-9;
    double rate = rate(offers, share);
    if (rate <= 0) {
      return 1;
    }
    double ahead = left * Math.max(1, offers.fullRate() / rate);
    double alone = pause + ahead / Math.max(1e-3, 1 - done);
    return (age + ahead) / Math.max(1, alone);
  }

  /** The best rate with at most so many slots; of the smallest offer if none is that small. */
  private static double rate(Offers offers, double share) {
    double best = 0;
    int smallest = -1;
    for (int o = 0; o < offers.count(); o++) {
      if (offers.slots()[o] <= share) {
        best = Math.max(best, offers.rate()[o]);
      }
      if (smallest < 0 || offers.slots()[o] < offers.slots()[smallest]) {
        smallest = o;
      }
    }
    return best > 0 || smallest < 0 ? best : offers.rate()[smallest];
  }
}
