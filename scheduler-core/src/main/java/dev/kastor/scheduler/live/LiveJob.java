package dev.kastor.scheduler.live;

import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;

/**
 * Job of a live cluster: what a policy is told of it, and what a replay of its future needs
 * besides.
 *
 * @param state what a policy is told
 * @param stays whether its allocation stays as it is to its end; a job that is pinned without that
 *     is on its way to its allocation
 */
public record LiveJob(JobState state, boolean stays) {
  /** The same as a policy is told something else. */
  public LiveJob with(JobState other) {
    return new LiveJob(other, stays);
  }

  public JobId id() {
    return state.id();
  }
}
