package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Filler of a cluster with gangs of requested size in an order of priority: whoever fits into what
 * is left runs, whoever ran and is chosen again stays where it is. Owned by one planning call.
 */
public final class GangFill {
  private final List<JobState> jobs;
  private final Placement placement;
  private final Reason kept;
  private final Reason started;
  private final Assignments assignments;
  private final List<Integer> starting = new ArrayList<>();
  private final Snapshot snapshot;
  private @Nullable NodeSlots unpinned;
  private int left;

  /**
   * A cluster in which pinned jobs alone hold slots.
   *
   * @param placement which nodes a job gets; used by nothing else
   * @param kept reason of jobs that stay where they are
   * @param started reason of jobs that get other nodes
   */
  public GangFill(Snapshot snapshot, Placement placement, Reason kept, Reason started) {
    this.placement = placement;
    this.kept = kept;
    this.started = started;
    jobs = snapshot.jobs();
    assignments = new Assignments(snapshot);
    left = snapshot.totalSlots();
    this.snapshot = snapshot;
    for (int j = 0; j < jobs.size(); j++) {
      if (jobs.get(j).pinned()) {
        left -= jobs.get(j).allocation().slots();
        placement.take(jobs.get(j).allocation());
        assignments.pin(j);
      }
    }
  }

  /** Whether no slot is left, so that nobody who is offered now can run. */
  public boolean full() {
    return left <= 0;
  }

  /** Slots that are left; below 0 where pinned jobs hold more than there is. */
  public int left() {
    return left;
  }

  /** The next job by priority. */
  public void offer(int j) {
    JobState job = jobs.get(j);
    int slots = Sizes.leastSlots(job.spec());
    if (slots > left || job.pinned() || !possible(job.spec())) {
      return;
    }
    left -= slots;
    if (!job.allocation().isEmpty()
        && placement.keep(job.allocation(), job.spec(), Sizes.requested(job.spec()))) {
      assignments.put(j, job.allocation(), kept);
    } else {
      starting.add(j);
    }
  }

  /**
   * Whether the nodes could hold the job's replicas, were it alone. Slots enough do not suffice
   * where a replica takes several of a node; a job that can have none must not keep others waiting.
   */
  private boolean possible(JobSpec spec) {
    return Sizes.leastSlotsPerReplica(spec) == 1 || unpinned().holds(spec, Sizes.requested(spec));
  }

  /** The nodes without what pinned jobs hold. */
  private NodeSlots unpinned() {
    NodeSlots known = unpinned;
    if (known == null) {
      known = new NodeSlots(snapshot.nodes());
      for (JobState job : jobs) {
        if (job.pinned()) {
          known.take(job.allocation());
        }
      }
      unpinned = known;
    }
    return known;
  }

  /** The plan; whoever was not chosen waits for this reason. */
  public Plan elseWaiting(Reason waiting) {
    for (int j : starting) {
      JobState job = jobs.get(j);
      placement
          .place(job.spec(), Sizes.requested(job.spec()))
          .ifPresent(allocation -> assignments.put(j, allocation, started));
    }
    return assignments.elseWaiting(waiting);
  }
}
