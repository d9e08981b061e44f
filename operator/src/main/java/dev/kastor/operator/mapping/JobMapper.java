package dev.kastor.operator.mapping;

import dev.kastor.crds.trainingjob.ElasticSpec;
import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AssumedPauses;
import dev.kastor.scheduler.model.JobFacts;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Translation of a TrainingJob and its measurements into the scheduler's {@link JobState}. */
public final class JobMapper {
  /**
   * A live change before one was measured; and the time from a pod's start to its first step:
   * image, runtime, data, checkpoint.
   */
  private static final AssumedPauses ASSUMED =
      new AssumedPauses(Duration.ofSeconds(2), Duration.ofSeconds(15));

  /**
   * The same of a gang, for which any change is a start: its old pods first get the time that they
   * have to end, and what its script had not saved is trained again.
   */
  private static final AssumedPauses ASSUMED_OF_GANG =
      new AssumedPauses(Duration.ofSeconds(60), Duration.ofSeconds(60));

  private JobMapper() {}

  /** The job as a policy sees it at {@code now}, in the queue that it names. */
  public static JobState state(
      TrainingJob job,
      @Nullable AllocationStatus allocation,
      Measured measured,
      boolean training,
      boolean pinned,
      Instant now) {
    JobReading reading = JobReading.of(job, allocation);
    JobSpec spec = reading.spec();
    return state(
        reading,
        spec.queue(),
        spec.priority(),
        Integer.MAX_VALUE,
        Optional.empty(),
        measured,
        training,
        pinned,
        now);
  }

  /**
   * The same in a queue that it may not have named, with the priority that counts there, on these
   * GPU types if they are given.
   *
   * @param most replicas that it may have now, whatever it asks for
   * @throws IllegalArgumentException if its spec contradicts itself
   */
  public static JobState state(
      JobReading job,
      String queue,
      int priority,
      int most,
      Optional<Set<String>> gpuTypes,
      Measured measured,
      boolean training,
      boolean pinned,
      Instant now) {
    JobSpec named = job.spec();
    boolean asNamed = named.queue().equals(queue) && named.priority() == priority;
    JobSpec inQueue = asNamed ? named : named.queued(queue, priority);
    JobSpec bounded =
        most < inQueue.elasticity().max()
            ? inQueue.withElasticity(inQueue.elasticity().atMost(most))
            : inQueue;
    JobSpec spec = gpuTypes.map(bounded::onTypes).orElse(bounded);
    return new JobFacts(spec, job.history(), training, measured, pinned, Optional.empty())
        .state(job.job().getSpec().restartsToRescale() ? ASSUMED_OF_GANG : ASSUMED, now);
  }

  /** The status' allocation as the scheduler's type. */
  public static Allocation allocation(@Nullable AllocationStatus allocation) {
    if (allocation == null || allocation.nodes() == null) {
      return Allocation.NONE;
    }
    var nodes = new TreeMap<>(allocation.nodes());
    // Not every server takes a key away for which a merge patch says null.
    nodes.values().removeIf(replicas -> replicas == null || replicas < 1);
    Integer said = allocation.slotsPerReplica();
    int slotsPerReplica = said == null ? 1 : said;
    long sum = nodes.values().stream().mapToLong(Integer::longValue).sum();
    // More than there can be was given by nobody.
    return slotsPerReplica < 1
            || slotsPerReplica > ElasticSpec.MOST_SLOTS
            || sum > Integer.MAX_VALUE / slotsPerReplica
        ? Allocation.NONE
        : new Allocation(nodes, slotsPerReplica);
  }

  /**
   * Whether the job can have been given that, going by what it asks for now: no pods are made for
   * what it cannot.
   */
  public static boolean withinBounds(JobSpec spec, Allocation given) {
    int replicas = given.replicas();
    return replicas >= spec.elasticity().min()
        && replicas <= spec.elasticity().max()
        && (given.isEmpty() || given.slotsPerReplica() == spec.slotsPerReplica());
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
}
