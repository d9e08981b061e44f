package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobSpec;
import java.util.Optional;

/** Rule by which jobs of known size get nodes; owned by one planning call. */
public interface Placement {
  /** Takes slots even where they are not there: for jobs that must stay where they are. */
  void take(Allocation allocation);

  /** Takes what a job holds if it holds so many replicas and all of that is free to it. */
  boolean keep(Allocation allocation, JobSpec spec, int replicas);

  /** Takes slots for so many replicas; empty, with nothing taken, if there are not enough. */
  Optional<Allocation> place(JobSpec spec, int replicas);
}
