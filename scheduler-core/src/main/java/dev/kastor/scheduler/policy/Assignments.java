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

/** A plan in the making, by position of the job in its snapshot; owned by one planning call. */
final class Assignments {
  private static final Reason PINNED = Reason.of("Pinned", "Must keep its allocation.");

  private final List<JobState> jobs;
  private final boolean[] made;
  private final SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();

  Assignments(Snapshot snapshot) {
    jobs = snapshot.jobs();
    made = new boolean[jobs.size()];
  }

  boolean has(int j) {
    return made[j];
  }

  void put(int j, Allocation allocation, Reason reason) {
    made[j] = true;
    assignments.put(jobs.get(j).id(), new Plan.Assignment(allocation, reason));
  }

  /** The job keeps what it has because it must. */
  void pin(int j) {
    put(j, jobs.get(j).allocation(), PINNED);
  }

  /** The plan, in which all others wait for this reason. */
  Plan elseWaiting(Reason reason) {
    return elseWaiting(reason, false);
  }

  /** The same of a plan that may have {@linkplain Plan#ample enough for all}. */
  Plan elseWaiting(Reason reason, boolean ample) {
    return new Plan(assignments, reason, ample);
  }
}
