package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Plan;
import dev.kastor.scheduler.Reason;
import dev.kastor.scheduler.Snapshot;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** A plan in the making, by position of the job in its snapshot; owned by one planning call. */
final class Assignments {
  private static final Reason PINNED = Reason.of("Pinned", "Must keep its allocation.");

  private final List<JobState> jobs;
  private final Plan.@Nullable Assignment[] made;

  Assignments(Snapshot snapshot) {
    jobs = snapshot.jobs();
    made = new Plan.@Nullable Assignment[jobs.size()];
  }

  boolean has(int j) {
    return made[j] != null;
  }

  void put(int j, Allocation allocation, Reason reason) {
    made[j] = new Plan.Assignment(allocation, reason);
  }

  /** The job keeps what it has because it must. */
  void pin(int j) {
    put(j, jobs.get(j).allocation(), PINNED);
  }

  /** The plan, in which all others wait for this reason. */
  Plan elseWaiting(Reason reason) {
    Plan.Assignment waits = new Plan.Assignment(Allocation.NONE, reason);
    SequencedMap<JobId, Plan.Assignment> assignments = LinkedHashMap.newLinkedHashMap(made.length);
    for (int j = 0; j < made.length; j++) {
      Plan.Assignment one = made[j];
      assignments.put(jobs.get(j).id(), one == null ? waits : one);
    }
    return new Plan(assignments);
  }
}
