package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Time for which each job has trained with what it holds: replicas that still start have shown
 * nothing. A start counts for so long at most: what does not come holds nothing for ever. Owned by
 * a policy; another one begins with the time of allocations.
 */
final class TrainedTime {
  private final double longestStart;
  private Map<JobId, Start> starts = new HashMap<>();

  /**
   * Start of a job with what it holds.
   *
   * @param seconds from the allocation to the first look at which the job trained with it, or to
   *     the newest look while it does not
   * @param over whether it trains
   */
  private record Start(double seconds, boolean over) {}

  /** Nothing seen so far. A start counts for so many seconds at most. */
  TrainedTime(double longestStart) {
    this.longestStart = longestStart;
  }

  /** Notes which jobs are starting in a round. */
  void look(List<JobState> jobs) {
    Map<JobId, Start> now = new HashMap<>();
    for (JobState job : jobs) {
      double since = since(job);
      @Nullable Start before = starts.get(job.id());
      if (job.restarting()) {
        now.put(job.id(), new Start(Math.min(since, longestStart), false));
      } else if (before != null && before.seconds() <= since) {
        // Else what it holds now is younger than what it was seen to start with.
        now.put(job.id(), before.over() ? before : new Start(Math.min(since, longestStart), true));
      }
    }
    starts = now;
  }

  /** Seconds for which a job has trained with its allocation; 0 while it starts. */
  double seconds(JobState job) {
    Start start = starts.get(job.id());
    return since(job) - (start == null ? 0 : start.seconds());
  }

  private static double since(JobState job) {
    return job.sinceChange().toNanos() * 1e-9;
  }
}
