package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Plan in the making, by position of the job in its snapshot; owned by one planning call. */
public final class Assignments {
  private static final Reason PINNED = Reason.of("Pinned", "Must keep its allocation.");

  private final List<JobState> jobs;
  private final boolean[] made;
  private final SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();

  /** A plan for the jobs of a snapshot, none of which has an assignment yet. */
  public Assignments(Snapshot snapshot) {
    jobs = snapshot.jobs();
    made = new boolean[jobs.size()];
  }

  /** Whether a job has an assignment. */
  public boolean has(int j) {
    return made[j];
  }

  /** Gives a job an allocation for a reason. */
  public void put(int j, Allocation allocation, Reason reason) {
    made[j] = true;
    assignments.put(jobs.get(j).id(), new Plan.Assignment(allocation, reason));
  }

  /** The job keeps what it has because it must. */
  public void pin(int j) {
    put(j, jobs.get(j).allocation(), PINNED);
  }

  /** The plan, in which all others wait for this reason. */
  public Plan elseWaiting(Reason reason) {
    return elseWaiting(reason, false);
  }

  /** The same of a plan that may have {@linkplain Plan#ample enough for all}. */
  public Plan elseWaiting(Reason reason, boolean ample) {
    return new Plan(assignments, reason, ample);
  }
}
