package dev.kastor.operator.cluster;

import dev.kastor.crds.Pin;
import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobStatus;
import dev.kastor.crds.TrainingJobStatus.AllocationStatus;
import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Turns a TrainingJob with what was measured of it into the scheduler's {@link JobState}. */
public final class JobMapper {
  private JobMapper() {}

  /** The job as a policy sees it at {@code now}, in the queue that it names. */
  public static JobState state(
      TrainingJob job,
      @Nullable AllocationStatus allocation,
      Measured measured,
      boolean pinned,
      Instant now) {
    JobReading reading = JobReading.of(job, allocation);
    JobSpec spec = reading.spec();
    return state(reading, spec.queue(), spec.priority(), Optional.empty(), measured, pinned, now);
  }

  /**
   * The same in a queue that it may not have named, with the priority that counts there, on these
   * GPU types if they are given.
   *
   * @throws IllegalArgumentException if its spec contradicts itself
   */
  static JobState state(
      JobReading job,
      String queue,
      int priority,
      Optional<Set<String>> gpuTypes,
      Measured measured,
      boolean pinned,
      Instant now) {
    JobSpec named = job.spec();
    boolean asNamed = named.queue().equals(queue) && named.priority() == priority;
    JobSpec inQueue = asNamed ? named : named.queued(queue, priority);
    JobSpec spec = gpuTypes.map(inQueue::onTypes).orElse(inQueue);
    Allocation current = job.allocation();
    TrainingJobStatus status = job.job().getStatus();
    Integer restarts = status == null ? null : status.restarts();
    return new JobState(
        spec,
        current,
        measured.model(),
        measured.maxProfiledReplicas(),
        measured.progress(),
        since(spec.submitted(), now),
        attainedService(job, now),
        restarts == null ? 0 : restarts,
        measured.rescaleCost(),
        measured.restartCost(),
        job.since().map(given -> since(given, now)).orElse(Duration.ZERO),
        current.isEmpty() ? Duration.ZERO : unsaved(job, now),
        pinned,
        false,
        measured.outlook(),
        Optional.empty());
  }

  /** The status' allocation as the scheduler's type. */
  public static Allocation allocation(@Nullable AllocationStatus allocation) {
    if (allocation == null || allocation.nodes() == null) {
      return Allocation.NONE;
    }
    var nodes = new TreeMap<>(allocation.nodes());
    // Not every server takes a key away for which a merge patch says null.
    nodes.values().removeIf(replicas -> replicas == null || replicas < 1);
    long sum = nodes.values().stream().mapToLong(Integer::longValue).sum();
    // More than there can be was given by nobody.
    return sum > Integer.MAX_VALUE ? Allocation.NONE : new Allocation(nodes);
  }

  /**
   * Whether the job can have been given that, going by what it asks for now: no pods are made for
   * what it cannot.
   */
  public static boolean withinBounds(JobSpec spec, Allocation given) {
    int replicas = given.replicas();
    return replicas >= spec.elasticity().min() && replicas <= spec.elasticity().max();
  }

  /** Whether the job's owner wants it to keep exactly what it has. */
  public static boolean pinnedHere(TrainingJob job, Allocation current) {
    return !current.isEmpty() && Pin.of(job) instanceof Pin.Here;
  }

  /** Whether the job still wants to run. */
  public static boolean wantsToRun(TrainingJob job) {
    return !finished(job)
        && !job.getSpec().suspended()
        && job.getMetadata().getDeletionTimestamp() == null;
  }

  /** Whether the job ended. */
  public static boolean finished(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    return status != null
        && (status.phase() == TrainingJobStatus.Phase.Succeeded
            || status.phase() == TrainingJobStatus.Phase.Failed);
  }

  /**
   * GPU-seconds held, by the size it has now: the exact sum would have to be stored with the job,
   * and policies only compare orders of magnitude.
   */
  private static double attainedService(JobReading job, Instant now) {
    return job.started()
        .map(start ->
            since(start, now).toMillis() / 1000.0 * Math.max(1, job.allocation().replicas()))
        .orElse(0.0);
  }

  /** Time since the newest checkpoint, or since training began where there is none. */
  private static Duration unsaved(JobReading job, Instant now) {
    return job.started().map(start -> since(job.saved().orElse(start), now)).orElse(Duration.ZERO);
  }

  private static Duration since(Instant then, Instant now) {
    return then.isAfter(now) ? Duration.ZERO : Duration.between(then, now);
  }
}
