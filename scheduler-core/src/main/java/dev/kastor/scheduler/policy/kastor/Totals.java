package dev.kastor.scheduler.policy.kastor;

import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.model.JobState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Total work of the jobs of one round, in scale-invariant steps.
 *
 * <p>What was declared, or what the family's jobs had that ended. Where nobody knows either, jobs
 * of a family are taken to be of like length, and to go on for as long again as the furthest of
 * them has: who is furthest has least left. It ends first and teaches the family, while the others
 * wait. Were each taken to go on for as long again as it has itself, the furthest would count as
 * the longest, and equal jobs would share the cluster and all end late.
 */
final class Totals {
  private final Map<String, Double> furthest = new HashMap<>();

  Totals(List<JobState> jobs) {
    for (JobState job : jobs) {
      job.progress()
          .filter(now -> !job.outlook().knowsTotal(now))
          .ifPresent(
              now -> furthest.merge(job.spec().family(), now.scaleInvariantSteps(), Math::max));
    }
  }

  /** Total of a job with this progress; 0 where nothing is known. */
  double of(JobState job, Progress now) {
    return job.outlook().knowsTotal(now) || job.spec().family().isEmpty()
        ? job.outlook().totalSteps(now)
        : 2 * furthest.getOrDefault(job.spec().family(), 0.0);
  }

  /** Share of its total that a job has done, in [0, 1]; 0 where nothing is known. */
  double fraction(JobState job) {
    return job.progress()
        .filter(now -> of(job, now) > 0)
        .map(now -> Math.min(1, now.scaleInvariantSteps() / of(job, now)))
        .orElse(0.0);
  }
}
