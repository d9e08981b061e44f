package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.StopPolicy;

/** A rule that a plan breaks, with the numbers. */
public sealed interface PlanViolation {
  /** One sentence for a person. */
  String message();

  /** More slots taken of a node than it has. */
  record OverCapacity(String node, int slots, int planned) implements PlanViolation {
    @Override
    public String message() {
      return "the plan takes %d slots of node %s, which has %d slots"
          .formatted(planned, node, slots);
    }
  }

  /** Replicas on a node that the snapshot does not have. */
  record UnknownNode(JobId job, String node) implements PlanViolation {
    @Override
    public String message() {
      return "the plan puts job %s on node %s, which the cluster does not have"
          .formatted(job, node);
    }
  }

  /** Replicas on a node of another GPU type than the job asked for. */
  record WrongGpuType(JobId job, String node, String wanted, String actual)
      implements PlanViolation {
    @Override
    public String message() {
      return "job %s wants GPUs of type %s but the plan puts it on node %s of type %s"
          .formatted(job, wanted, node, actual);
    }
  }

  /** Nodes of different GPU types for a job that is profiled by type. */
  record MixedGpuTypes(JobId job, String one, String other) implements PlanViolation {
    @Override
    public String message() {
      return "the plan spreads job %s over GPUs of types %s and %s, which it cannot mix"
          .formatted(job, one, other);
    }
  }

  /** A replica count that the job cannot run with. */
  record ReplicasNotAllowed(JobId job, int planned, Elasticity elasticity)
      implements PlanViolation {
    @Override
    public String message() {
      return "the plan gives job %s %d replicas, which it does not allow: %s"
          .formatted(job, planned, elasticity);
    }
  }

  /** Replicas of another size than the job's. */
  record WrongSlotsPerReplica(JobId job, int wanted, int planned) implements PlanViolation {
    @Override
    public String message() {
      return "a replica of job %s takes %d slots but the plan gives each %d"
          .formatted(job, wanted, planned);
    }
  }

  /** A job that the snapshot does not have. */
  record UnknownJob(JobId job) implements PlanViolation {
    @Override
    public String message() {
      return "the plan names job %s, which is not in the snapshot".formatted(job);
    }
  }

  /** Another allocation for a job that must keep its own. */
  record PinnedJobChanged(JobId job, Allocation from, Allocation to) implements PlanViolation {
    @Override
    public String message() {
      return "job %s is pinned to %s but the plan gives it %s"
          .formatted(job, from.replicasByNode(), to.replicasByNode());
    }
  }

  /** More slots for a queue than its quota and what it may borrow. */
  record QuotaExceeded(String queue, long most, int planned) implements PlanViolation {
    @Override
    public String message() {
      return "the plan gives queue %s %d slots, but its quota and what it may borrow are %d"
          .formatted(queue, planned, most);
    }
  }

  /** More slots for a cohort than its queues lend each other. */
  record CohortExceeded(String cohort, long lent, long drawn, long nominal, long planned)
      implements PlanViolation {
    @Override
    public String message() {
      return "the plan gives cohort %s %d slots, of which %d are drawn on the %d that its queues lend; their quotas are %d together"
          .formatted(cohort, planned, drawn, lent, nominal);
    }
  }

  /** Slots for a job whose queue lets nobody in. */
  record QueueStopped(JobId job, String queue, StopPolicy stop) implements PlanViolation {
    @Override
    public String message() {
      return "the plan runs job %s although queue %s has stop policy %s"
          .formatted(job, queue, stop);
    }
  }
}
