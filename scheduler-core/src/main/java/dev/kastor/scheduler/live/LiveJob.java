package dev.kastor.scheduler.live;

import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;

/**
 * Job of a live cluster: what a policy is told of it, and what a replay of its future needs
 * besides.
 *
 * @param state what a policy is told
 * @param declaredSteps scale-invariant steps of the work that its spec declares; 0 where it
 *     declares none in steps or examples
 * @param stays whether its allocation stays as it is to its end; a job that is pinned without that
 *     is on its way to its allocation
 */
public record LiveJob(JobState state, double declaredSteps, boolean stays) {
  public LiveJob {
    if (!(declaredSteps >= 0 && declaredSteps < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "declaredSteps of job %s must be finite and at least 0 but are %s"
              .formatted(state.id(), declaredSteps));
    }
  }

  /** The same as a policy is told something else. */
  public LiveJob with(JobState other) {
    return new LiveJob(other, declaredSteps, stays);
  }

  public JobId id() {
    return state.id();
  }
}
