package dev.kastor.scheduler.policy.fifo;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.policy.support.Assignments;
import dev.kastor.scheduler.policy.support.FreeSlots;
import dev.kastor.scheduler.policy.support.Sizes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * First in, first out with fixed sizes: the static baseline.
 *
 * <p>In submission order each job gets a fixed number of replicas and keeps them to its end. The
 * first job that does not fit holds up all behind it that do not run yet.
 */
public final class FifoPolicy implements Policy {
  /** Plug-in of this policy. */
  public static final PolicyPlugin PLUGIN =
      PolicyPlugin.of(
          "fifo",
          "First in, first out with the sizes that owners asked for; running jobs "
              + "are never stopped.",
          PolicyTraits.of(Control.PLACEMENT),
          List.of(),
          (context, options) -> new FifoPolicy());

  private static final Reason KEPT = Reason.of("Kept", "Fixed size: keeps what it was given.");
  private static final Reason STARTED = Reason.of("Started", "Its turn came.");
  private static final Reason IMPOSSIBLE =
      Reason.of("Waiting", "No count within its bounds is allowed.");
  private static final Reason NONE_WAIT = Reason.of("Waiting", "Waits for its turn.");

  @Override
  public Plan plan(Snapshot snapshot) {
    FreeSlots free = new FreeSlots(snapshot.nodes());
    Assignments assignments = new Assignments(snapshot);
    List<JobState> jobs = snapshot.jobs();
    // Whoever runs keeps its slots before anyone new is considered.
    for (int j = 0; j < jobs.size(); j++) {
      if (jobs.get(j).pinned()) {
        free.take(jobs.get(j).allocation());
        assignments.pin(j);
      }
    }
    for (int j = 0; j < jobs.size(); j++) {
      JobState job = jobs.get(j);
      if (!job.pinned()
          && !job.allocation().isEmpty()
          && free.keepAtAnySize(job.allocation(), job.spec())) {
        assignments.put(j, job.allocation(), KEPT);
      }
    }
    Reason waiting = start(jobs, free, assignments);
    return assignments.elseWaiting(waiting, waiting.equals(NONE_WAIT));
  }

  /** Starts jobs up to the first that does not fit; returns why those behind it wait. */
  private static Reason start(List<JobState> jobs, FreeSlots free, Assignments assignments) {
    for (int j = 0; j < jobs.size(); j++) {
      if (assignments.has(j)) {
        continue;
      }
      JobState job = jobs.get(j);
      int replicas = Sizes.requested(job.spec());
      if (!job.spec().elasticity().allows(replicas)) {
        assignments.put(j, Allocation.NONE, IMPOSSIBLE);
        continue;
      }
      Optional<Allocation> placed = free.place(job.spec(), replicas);
      if (placed.isEmpty()) {
        SequencedMap<String, Double> numbers = new LinkedHashMap<>();
        numbers.put("replicas", (double) replicas);
        assignments.put(
            j,
            Allocation.NONE,
            new Reason(
                "Waiting",
                "First in line, not enough free slots for %d replicas.".formatted(replicas),
                numbers));
        return Reason.of("Waiting", "Waits behind %s.".formatted(job.id()));
      }
      assignments.put(j, placed.get(), STARTED);
    }
    return NONE_WAIT;
  }
}
