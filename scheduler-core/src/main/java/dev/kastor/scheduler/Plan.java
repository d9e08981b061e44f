package dev.kastor.scheduler;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * What a policy wants: an allocation with a reason for each job of the snapshot.
 *
 * @param assignments by job; a job that is absent gets nothing
 */
public record Plan(SequencedMap<JobId, Assignment> assignments) {
  /** One job's share and why. */
  public record Assignment(Allocation allocation, Reason reason) {}

  public Plan {
    assignments = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(assignments));
  }

  /** The allocation of a job, {@link Allocation#NONE} if the plan does not name it. */
  public Allocation allocation(JobId job) {
    Assignment assignment = assignments.get(job);
    return assignment == null ? Allocation.NONE : assignment.allocation();
  }
}
