package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.loop.FastPath;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Reason;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * What a policy wants: an allocation with a reason for each job of the snapshot.
 *
 * @param assignments by job; a job that is absent gets nothing
 * @param otherwise why it gets nothing
 * @param ample whether everybody got the best that the policy knows for them and no job stands in
 *     another's way: who comes later is then decided on by itself, from the slots that are left
 *     (see {@link FastPath})
 */
public record Plan(SequencedMap<JobId, Assignment> assignments, Reason otherwise, boolean ample) {
  private static final Reason NOT_PLANNED =
      Reason.of("NotPlanned", "The policy gave this job nothing.");

  /** One job's share and why. */
  public record Assignment(Allocation allocation, Reason reason) {}

  public Plan {
    assignments = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(assignments));
  }

  /** A plan in which jobs may stand in one another's way. */
  public Plan(SequencedMap<JobId, Assignment> assignments, Reason otherwise) {
    this(assignments, otherwise, false);
  }

  /** The same, which names every job it has a reason for. */
  public Plan(SequencedMap<JobId, Assignment> assignments) {
    this(assignments, NOT_PLANNED);
  }

  /** A plan that names every job, and says whether there is enough for all. */
  public Plan(SequencedMap<JobId, Assignment> assignments, boolean ample) {
    this(assignments, NOT_PLANNED, ample);
  }

  /** The allocation of a job, {@link Allocation#NONE} if the plan does not name it. */
  public Allocation allocation(JobId job) {
    Assignment assignment = assignments.get(job);
    return assignment == null ? Allocation.NONE : assignment.allocation();
  }

  /** Why a job gets what it gets. */
  public Reason reason(JobId job) {
    Assignment assignment = assignments.get(job);
    return assignment == null ? otherwise : assignment.reason();
  }
}
