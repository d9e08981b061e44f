package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.Control;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Plan;
import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.Reason;
import dev.kastor.scheduler.Snapshot;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * First in, first out with fixed sizes: the static baseline.
 *
 * <p>In submission order each job gets a fixed number of replicas and keeps them to its end. The
 * first job that does not fit holds up all behind it that do not run yet.
 */
public final class FifoPolicy implements Policy {
  static final String NAME = "fifo";

  FifoPolicy(PolicyOptions options) {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Control control() {
    return Control.PLACEMENT;
  }

  @Override
  public Plan plan(Snapshot snapshot) {
    FreeSlots free = new FreeSlots(snapshot.nodes());
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    // Whoever runs keeps its slots before anyone new is considered.
    for (JobState job : snapshot.jobs()) {
      if (job.pinned()) {
        free.takeAnyway(job.allocation());
        assignments.put(job.id(), kept(job.allocation()));
      }
    }
    for (JobState job : snapshot.jobs()) {
      if (!job.pinned()
          && job.spec().elasticity().allows(job.allocation().replicas())
          && free.take(job.allocation(), job.spec().gpuType())) {
        assignments.put(job.id(), kept(job.allocation()));
      }
    }
    JobId blocker = null;
    for (JobState job : snapshot.jobs()) {
      if (assignments.containsKey(job.id())) {
        continue;
      }
      int replicas = Sizes.requested(job.spec());
      if (!job.spec().elasticity().allows(replicas)) {
        assignments.put(job.id(), waiting(replicas, "no count within its bounds is allowed"));
        continue;
      }
      if (blocker != null) {
        assignments.put(job.id(), waiting(replicas, "behind " + blocker));
        continue;
      }
      Optional<Allocation> placed = free.place(replicas, job.spec().gpuType());
      if (placed.isEmpty()) {
        blocker = job.id();
      }
      assignments.put(
          job.id(),
          placed
              .map(allocation -> started(allocation, replicas))
              .orElseGet(() -> waiting(replicas, "first in line, not enough free slots")));
    }
    return new Plan(assignments);
  }

  private static Plan.Assignment kept(Allocation allocation) {
    return new Plan.Assignment(
        allocation, reason("Kept", "Fixed size: keeps what it was given.", allocation.replicas()));
  }

  private static Plan.Assignment started(Allocation allocation, int replicas) {
    return new Plan.Assignment(
        allocation, reason("Started", "Its turn came: %d replicas.".formatted(replicas), replicas));
  }

  private static Plan.Assignment waiting(int replicas, String why) {
    return new Plan.Assignment(
        Allocation.NONE,
        reason("Waiting", "Waits for %d replicas: %s.".formatted(replicas, why), replicas));
  }

  private static Reason reason(String code, String message, int replicas) {
    SequencedMap<String, Double> numbers = new LinkedHashMap<>();
    numbers.put("replicas", (double) replicas);
    return new Reason(code, message, numbers);
  }
}
