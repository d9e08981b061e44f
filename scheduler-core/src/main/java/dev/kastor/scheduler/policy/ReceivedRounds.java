package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.JobId;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * The rounds that jobs have had on each GPU type. A job begins with half a round everywhere, and
 * what a finished job had still counts in the total: both as Sia's artifact (SOSP 2023) runs Gavel.
 */
final class ReceivedRounds {
  private static final double AT_FIRST = 0.5;

  private final Map<String, Map<JobId, Double>> byType = new HashMap<>();
  private final Map<String, Double> totals = new HashMap<>();

  /** Counts another round of a job on a type. */
  void add(JobId job, String type) {
    of(job, type);
    add(job, type, 1);
  }

  private void add(JobId job, String type, double rounds) {
    byType.computeIfAbsent(type, t -> new HashMap<>()).merge(job, rounds, Double::sum);
    totals.merge(type, rounds, Double::sum);
  }

  /** A job's share of all rounds on a type, in (0, 1]. */
  double of(JobId job, String type) {
    Map<JobId, Double> own = byType.computeIfAbsent(type, t -> new HashMap<>());
    if (!own.containsKey(job)) {
      add(job, type, AT_FIRST);
    }
    return own.getOrDefault(job, AT_FIRST) / totals.getOrDefault(type, AT_FIRST);
  }

  void enter(JobId job, Collection<String> types) {
    types.forEach(type -> of(job, type));
  }

  void retain(Collection<JobId> jobs) {
    byType.values().forEach(own -> own.keySet().retainAll(jobs));
  }
}
