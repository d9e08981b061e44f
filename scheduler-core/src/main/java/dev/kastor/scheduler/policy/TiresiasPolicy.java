package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.Control;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Plan;
import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.Reason;
import dev.kastor.scheduler.Snapshot;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;

/**
 * Tiresias (NSDI 2019, section 3.3): discretised least attained service with two queues, for jobs
 * of fixed size, as Pollux's artifact (OSDI 2021, section 5) runs it.
 *
 * <p>Jobs that have used fewer than 16 GPU-hours come first, in order of arrival; then the others,
 * in the order in which they passed that mark. Whoever fits runs, so smaller jobs may pass larger
 * ones; whoever does not fit any more is suspended. Running jobs never move.
 */
public final class TiresiasPolicy implements Policy {
  static final String NAME = "tiresias";

  private static final double THRESHOLD_GPU_SECONDS = 16 * 3600;

  private final SequencedSet<JobId> served = new LinkedHashSet<>();

  TiresiasPolicy(PolicyOptions options) {}

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
    SequencedMap<JobId, JobState> queue = queue(snapshot);
    FreestNodes free = new FreestNodes(snapshot.nodes());
    Map<JobId, Plan.Assignment> made = new HashMap<>();
    int left = snapshot.totalSlots();
    for (JobState job : snapshot.jobs()) {
      if (job.pinned()) {
        left -= job.allocation().replicas();
        free.take(job.allocation());
        made.put(job.id(), assignment(job.allocation(), "Pinned", "Must keep its allocation."));
      }
    }
    SequencedMap<JobId, JobState> starting = new LinkedHashMap<>();
    for (JobState job : queue.values()) {
      if (job.pinned()) {
        continue;
      }
      int wanted = Sizes.requested(job.spec());
      if (wanted > left) {
        continue;
      }
      left -= wanted;
      if (job.allocation().replicas() == wanted && free.keep(job.spec(), job.allocation())) {
        made.put(job.id(), assignment(job.allocation(), "Kept", "Has least attained service."));
      } else {
        starting.put(job.id(), job);
      }
    }
    for (JobState job : starting.values()) {
      free.place(job.spec(), Sizes.requested(job.spec()))
          .ifPresent(allocation ->
              made.put(job.id(), assignment(allocation, "Started", "Has least attained service.")));
    }
    return plan(snapshot, made);
  }

  private static Plan plan(Snapshot snapshot, Map<JobId, Plan.Assignment> made) {
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    Plan.Assignment waits =
        assignment(Allocation.NONE, "Waiting", "Jobs with less attained service took the GPUs.");
    for (JobState job : snapshot.jobs()) {
      assignments.put(job.id(), made.getOrDefault(job.id(), waits));
    }
    return new Plan(assignments);
  }

  /** Least served first; the queue of the others keeps the order in which they joined it. */
  private SequencedMap<JobId, JobState> queue(Snapshot snapshot) {
    SequencedMap<JobId, JobState> jobs = new LinkedHashMap<>();
    snapshot.jobs().forEach(job -> jobs.put(job.id(), job));
    served.retainAll(jobs.keySet());
    SequencedMap<JobId, JobState> queue = new LinkedHashMap<>();
    for (JobState job : snapshot.jobs()) {
      if (served.contains(job.id())) {
        continue;
      }
      // Attained service of a job that runs is measured when it is looked at, as the artifact does.
      if (job.attainedService() >= THRESHOLD_GPU_SECONDS) {
        served.add(job.id());
      } else {
        queue.put(job.id(), job);
      }
    }
    for (JobId id : served) {
      JobState job = jobs.get(id);
      if (job != null) {
        queue.put(id, job);
      }
    }
    return queue;
  }

  private static Plan.Assignment assignment(Allocation allocation, String code, String message) {
    return new Plan.Assignment(allocation, Reason.of(code, message));
  }
}
