package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobSpec;

/** Sizes of jobs for policies that do not choose them. */
public final class Sizes {
  private Sizes() {}

  /** Fewest slots that the requested size can take on any GPU type. */
  public static int leastSlots(JobSpec spec) {
    return leastSlots(spec, requested(spec));
  }

  /** Fewest slots that a job can run with where a policy decides so much. */
  public static int leastSlots(JobSpec spec, Control control) {
    return leastSlots(
        spec, control == Control.PLACEMENT ? requested(spec) : fewest(spec.elasticity()));
  }

  /** The fewest replicas that are allowed; the minimum if none are. */
  public static int fewest(Elasticity elasticity) {
    for (int replicas = elasticity.min(); replicas <= elasticity.max(); replicas++) {
      if (elasticity.allows(replicas)) {
        return replicas;
      }
    }
    return elasticity.min();
  }

  private static int leastSlots(JobSpec spec, int replicas) {
    return replicas * leastSlotsPerReplica(spec);
  }

  /** Slots of one replica on the GPU type where that takes fewest. */
  public static int leastSlotsPerReplica(JobSpec spec) {
    if (spec.byGpuType().isEmpty()) {
      return spec.slotsPerReplica();
    }
    int least = Integer.MAX_VALUE;
    for (GpuTraits traits : spec.byGpuType().values()) {
      least = Math.min(least, traits.slotsPerReplica());
    }
    return least;
  }

  /** Greatest common divisor of the slots that two replicas take; the other one's if one is 0. */
  public static int common(int one, int other) {
    return other == 0 ? one : common(other, one % other);
  }

  /** What its owner asked for, or the nearest count that its bounds allow; smaller ones first. */
  public static int requested(JobSpec spec) {
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
