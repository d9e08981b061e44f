package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Reason;

/** One thing for the cluster to do. */
public sealed interface Change {
  JobId job();

  /** What the job has before; {@link Allocation#NONE} for nothing. */
  Allocation from();

  /** What the job has after it; {@link Allocation#NONE} for nothing. */
  Allocation to();

  Reason reason();

  /** A job that does not run gets an allocation. */
  record Start(JobId job, Allocation to, Reason reason) implements Change {
    @Override
    public Allocation from() {
      return Allocation.NONE;
    }
  }

  /** A running job gets more or fewer replicas. */
  record Rescale(JobId job, Allocation from, Allocation to, Reason reason) implements Change {}

  /** A running job keeps its replica count on other nodes. */
  record Migrate(JobId job, Allocation from, Allocation to, Reason reason) implements Change {}

  /** A running job loses all it has and waits. */
  record Stop(JobId job, Allocation from, Reason reason) implements Change {
    @Override
    public Allocation to() {
      return Allocation.NONE;
    }
  }
}
