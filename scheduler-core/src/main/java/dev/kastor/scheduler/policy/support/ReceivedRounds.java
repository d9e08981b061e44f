package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.JobId;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Rounds that jobs have had on each GPU type. A job begins with half a round everywhere, and what a
 * finished job had still counts in the total: both as Sia's artifact (SOSP 2023) runs Gavel.
 */
public final class ReceivedRounds {
  private static final double AT_FIRST = 0.5;

  private final Map<String, Map<JobId, Double>> byType = new HashMap<>();
  private final Map<String, Double> totals = new HashMap<>();

  /** Counts another round of a job on a type. */
  public void add(JobId job, String type) {
    of(job, type);
    add(job, type, 1);
  }

  private void add(JobId job, String type, double rounds) {
    byType.computeIfAbsent(type, t -> new HashMap<>()).merge(job, rounds, Double::sum);
    totals.merge(type, rounds, Double::sum);
  }

  /** A job's share of all rounds on a type, in (0, 1]. */
  public double of(JobId job, String type) {
    Map<JobId, Double> own = byType.computeIfAbsent(type, t -> new HashMap<>());
    if (!own.containsKey(job)) {
      add(job, type, AT_FIRST);
    }
    return own.getOrDefault(job, AT_FIRST) / totals.getOrDefault(type, AT_FIRST);
  }

  /** Lets a job begin with half a round on each type. */
  public void enter(JobId job, Collection<String> types) {
    types.forEach(type -> of(job, type));
  }

  /** Forgets all jobs but these. */
  public void retain(Collection<JobId> jobs) {
    byType.values().forEach(own -> own.keySet().retainAll(jobs));
  }
}
