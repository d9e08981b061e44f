package dev.kastor.scheduler.model;

import dev.kastor.scheduler.goodput.BatchLimits;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/**
 * What a user asked for, as far as scheduling goes.
 *
 * @param id the job
 * @param submitted when it was submitted
 * @param family jobs of one family train the same model on the same data; empty if not known
 * @param elasticity what may change
 * @param requestedReplicas the size its owner would have typed on a cluster without elasticity:
 *     what policies give it that do not choose sizes
 * @param batchLimits the batches it may use on any GPU type that {@code byGpuType} does not list;
 *     for {@code Elastic} and {@code Rigid} jobs the global batch stays at its target
 * @param gpuType GPU type it must run on; empty for any
 * @param byGpuType what differs by GPU type; if not empty, the job runs on the listed types only
 * @param queue name of the queue it was submitted to; empty for none
 * @param priority jobs of a higher one come before jobs of a lower one; 0 unless given
 * @param slotsPerReplica slots of one node that each replica takes on any GPU type that {@code
 *     byGpuType} does not list
 * @param mostExamples largest batch of a pass that fits a device, by GPU type (empty where nodes
 *     have none), as its replicas found out; beyond it no limit allows anything
 * @param declaredSteps scale-invariant steps of the work that it declares; 0 where it declares
 *     none, or only its program knows how many those are
 */
public record JobSpec(
    JobId id,
    Instant submitted,
    String family,
    Elasticity elasticity,
    int requestedReplicas,
    BatchLimits batchLimits,
    String gpuType,
    SequencedMap<String, GpuTraits> byGpuType,
    String queue,
    int priority,
    int slotsPerReplica,
    Map<String, Integer> mostExamples,
    double declaredSteps) {
  private static final SequencedMap<String, GpuTraits> ALIKE =
      Collections.unmodifiableSequencedMap(new LinkedHashMap<>());

  public JobSpec {
    mostExamples = Map.copyOf(mostExamples);
    // One empty map for all: planning looks at it for each of thousands of jobs.
    byGpuType =
        byGpuType.isEmpty()
            ? ALIKE
            : Collections.unmodifiableSequencedMap(new LinkedHashMap<>(byGpuType));
    if (requestedReplicas < 1) {
      throw new IllegalArgumentException(
          "requestedReplicas of job %s must be at least 1 but are %d"
              .formatted(id, requestedReplicas));
    }
    if (slotsPerReplica < 1) {
      throw new IllegalArgumentException(
          "slotsPerReplica of job %s must be at least 1 but is %d".formatted(id, slotsPerReplica));
    }
    if (!(declaredSteps >= 0 && declaredSteps < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "declaredSteps of job %s must be finite and at least 0 but are %s"
              .formatted(id, declaredSteps));
    }
  }

  /** A job that declares no work before it reports. */
  public JobSpec(
      JobId id,
      Instant submitted,
      String family,
      Elasticity elasticity,
      int requestedReplicas,
      BatchLimits batchLimits,
      String gpuType,
      SequencedMap<String, GpuTraits> byGpuType,
      String queue,
      int priority,
      int slotsPerReplica,
      Map<String, Integer> mostExamples) {
    this(
        id,
        submitted,
        family,
        elasticity,
        requestedReplicas,
        batchLimits,
        gpuType,
        byGpuType,
        queue,
        priority,
        slotsPerReplica,
        mostExamples,
        0);
  }

  /** A job whose replicas take one slot each and met no limit of memory. */
  public JobSpec(
      JobId id,
      Instant submitted,
      String family,
      Elasticity elasticity,
      int requestedReplicas,
      BatchLimits batchLimits,
      String gpuType,
      SequencedMap<String, GpuTraits> byGpuType,
      String queue,
      int priority) {
    this(
        id,
        submitted,
        family,
        elasticity,
        requestedReplicas,
        batchLimits,
        gpuType,
        byGpuType,
        queue,
        priority,
        1,
        Map.of());
  }

  /** A job of no queue and priority 0. */
  public JobSpec(
      JobId id,
      Instant submitted,
      String family,
      Elasticity elasticity,
      int requestedReplicas,
      BatchLimits batchLimits,
      String gpuType,
      SequencedMap<String, GpuTraits> byGpuType) {
    this(
        id,
        submitted,
        family,
        elasticity,
        requestedReplicas,
        batchLimits,
        gpuType,
        byGpuType,
        "",
        0);
  }

  /** A job of no known family that is alike on all GPU types and asks for its minimum. */
  public JobSpec(
      JobId id, Instant submitted, Elasticity elasticity, BatchLimits batchLimits, String gpuType) {
    this(
        id,
        submitted,
        "",
        elasticity,
        elasticity.min(),
        batchLimits,
        gpuType,
        new LinkedHashMap<>());
  }

  /** The same where something else may change. */
  public JobSpec withElasticity(Elasticity other) {
    return new JobSpec(
        id,
        submitted,
        family,
        other,
        requestedReplicas,
        batchLimits,
        gpuType,
        byGpuType,
        queue,
        priority,
        slotsPerReplica,
        mostExamples,
        declaredSteps);
  }

  /** The same with other batches. */
  public JobSpec withBatchLimits(BatchLimits limits) {
    return new JobSpec(
        id,
        submitted,
        family,
        elasticity,
        requestedReplicas,
        limits,
        gpuType,
        byGpuType,
        queue,
        priority,
        slotsPerReplica,
        mostExamples,
        declaredSteps);
  }

  /** The same of a family. */
  public JobSpec ofFamily(String name) {
    return new JobSpec(
        id,
        submitted,
        name,
        elasticity,
        requestedReplicas,
        batchLimits,
        gpuType,
        byGpuType,
        queue,
        priority,
        slotsPerReplica,
        mostExamples,
        declaredSteps);
  }

  /** The same in a queue, with a priority. */
  public JobSpec queued(String inQueue, int atPriority) {
    return new JobSpec(
        id,
        submitted,
        family,
        elasticity,
        requestedReplicas,
        batchLimits,
        gpuType,
        byGpuType,
        inQueue,
        atPriority,
        slotsPerReplica,
        mostExamples,
        declaredSteps);
  }

  /** The same with replicas of so many slots. */
  public JobSpec withSlotsPerReplica(int slots) {
    return new JobSpec(
        id,
        submitted,
        family,
        elasticity,
        requestedReplicas,
        batchLimits,
        gpuType,
        byGpuType,
        queue,
        priority,
        slots,
        mostExamples,
        declaredSteps);
  }

  /** The same on these GPU types only, with the same batches on each. */
  public JobSpec onTypes(Collection<String> types) {
    SequencedMap<String, GpuTraits> traits = new LinkedHashMap<>();
    for (String type : types) {
      traits.put(type, new GpuTraits(batchLimits, slotsPerReplica, 0));
    }
    return withTypes(traits);
  }

  /** The same with these traits by GPU type. */
  public JobSpec withTypes(SequencedMap<String, GpuTraits> traits) {
    return new JobSpec(
        id,
        submitted,
        family,
        elasticity,
        requestedReplicas,
        batchLimits,
        gpuType,
        traits,
        queue,
        priority,
        slotsPerReplica,
        mostExamples,
        declaredSteps);
  }

  /** The same that declares so many scale-invariant steps of work. */
  public JobSpec declaring(double steps) {
    return new JobSpec(
        id,
        submitted,
        family,
        elasticity,
        requestedReplicas,
        batchLimits,
        gpuType,
        byGpuType,
        queue,
        priority,
        slotsPerReplica,
        mostExamples,
        steps);
  }

  /** The same where its replicas found out what fits a device, by GPU type. */
  public JobSpec fitting(Map<String, Integer> most) {
    return most.equals(mostExamples)
        ? this
        : new JobSpec(
            id,
            submitted,
            family,
            elasticity,
            requestedReplicas,
            batchLimits,
            gpuType,
            byGpuType,
            queue,
            priority,
            slotsPerReplica,
            most,
            declaredSteps);
  }

  /** Whether the job can run on nodes of this type. */
  public boolean runsOn(String type) {
    return (gpuType.isEmpty() || gpuType.equals(type))
        && (byGpuType.isEmpty() || byGpuType.containsKey(type));
  }

  /** The batches it may use on this GPU type. */
  public BatchLimits batchLimits(String type) {
    GpuTraits traits = byGpuType.get(type);
    BatchLimits limits = traits == null ? batchLimits : traits.batchLimits();
    // Nearly no job has such a limit, and planning asks this for each of thousands.
    return mostExamples.isEmpty() ? limits : limits.fitting(mostExamples(type));
  }

  /** What fits each device of replicas on this type, or on several joined by {@code +}. */
  private int mostExamples(String type) {
    return Arrays.stream(type.split("\\+", -1))
        .mapToInt(each -> mostExamples.getOrDefault(each, Integer.MAX_VALUE))
        .min()
        .orElse(Integer.MAX_VALUE);
  }

  /** Slots that one replica takes on this GPU type. */
  public int slotsPerReplica(String type) {
    if (byGpuType.isEmpty()) {
      return slotsPerReplica;
    }
    GpuTraits traits = byGpuType.get(type);
    return traits == null ? slotsPerReplica : traits.slotsPerReplica();
  }
}
