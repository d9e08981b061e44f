package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Time for which each job has trained with what it holds: replicas that still start have shown
 * nothing. A start counts for so long at most: what does not come holds nothing for ever. Owned by
 * a policy; another one begins with the time of allocations.
 */
final class TrainedTime {
  private final double longestStart;

  /** For how many seconds each job that trains had started with what it holds, as last seen. */
  private final Map<JobId, Double> started = new HashMap<>();

  /** Nothing seen so far. A start counts for so many seconds at most. */
  TrainedTime(double longestStart) {
    this.longestStart = longestStart;
  }

  /** Notes which jobs are starting in a round. */
  void look(List<JobState> jobs) {
    Map<JobId, Double> before = Map.copyOf(started);
    started.clear();
    for (JobState job : jobs) {
      double since = since(job);
      double start =
          job.restarting() ? Math.min(since, longestStart) : before.getOrDefault(job.id(), 0.0);
      // What it holds now is younger than what it was seen to start with.
      if (start > 0 && start <= since) {
        started.put(job.id(), start);
      }
    }
  }

  /** Seconds for which a job has trained with its allocation; 0 while it starts. */
  double seconds(JobState job) {
    return since(job) - started.getOrDefault(job.id(), 0.0);
  }

  private static double since(JobState job) {
    return job.sinceChange().toNanos() * 1e-9;
  }
}
