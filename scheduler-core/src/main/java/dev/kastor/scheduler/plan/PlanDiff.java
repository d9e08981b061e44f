package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** What must change to get from the snapshot's allocations to a plan's. */
public final class PlanDiff {
  private PlanDiff() {}

  /**
   * Changes in the order in which they free and take slots: stops, shrinks, migrations, grows,
   * starts; within each in the snapshot's order of jobs.
   */
  public static List<Change> changes(Snapshot snapshot, Plan plan) {
    List<Change> changes = new ArrayList<>();
    for (JobState job : snapshot.jobs()) {
      Allocation from = job.allocation();
      Allocation to = plan.allocation(job.id());
      if (!from.equals(to)) {
        changes.add(change(job.id(), from, to, plan.reason(job.id())));
      }
    }
    changes.sort(Comparator.comparingInt(PlanDiff::rank));
    return List.copyOf(changes);
  }

  private static Change change(JobId job, Allocation from, Allocation to, Reason reason) {
    if (to.isEmpty()) {
      return new Change.Stop(job, from, reason);
    }
    if (from.isEmpty()) {
      return new Change.Start(job, to, reason);
    }
    return from.replicas() == to.replicas()
        ? new Change.Migrate(job, from, to, reason)
        : new Change.Rescale(job, from, to, reason);
  }

  private static int rank(Change change) {
    return switch (change) {
      case Change.Stop stop -> 0;
      case Change.Rescale rescale -> rescale.to().slots() < rescale.from().slots() ? 1 : 3;
      case Change.Migrate migrate -> 2;
      case Change.Start start -> 4;
    };
  }
}
