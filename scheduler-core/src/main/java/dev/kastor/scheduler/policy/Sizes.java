package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.Elasticity;
import dev.kastor.scheduler.JobSpec;

/** The size of a job for policies that do not choose it. */
final class Sizes {
  private Sizes() {}

  /** What its owner asked for, or the nearest count that its bounds allow; smaller ones first. */
  static int requested(JobSpec spec) {
    Elasticity elasticity = spec.elasticity();
    int wanted = Math.clamp(spec.requestedReplicas(), elasticity.min(), elasticity.max());
    for (int below = wanted; below >= elasticity.min(); below--) {
      if (elasticity.allows(below)) {
        return below;
      }
    }
    for (int above = wanted; above <= elasticity.max(); above++) {
      if (elasticity.allows(above)) {
        return above;
      }
    }
    return wanted;
  }
}
