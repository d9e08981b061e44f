package dev.kastor.scheduler.model;

import dev.kastor.scheduler.goodput.BatchLimits;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
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
    int priority) {
  private static final SequencedMap<String, GpuTraits> ALIKE =
      Collections.unmodifiableSequencedMap(new LinkedHashMap<>());

  public JobSpec {
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
        priority);
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
        priority);
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
        atPriority);
  }

  /** The same on these GPU types only, with the same batches on each. */
  public JobSpec onTypes(Collection<String> types) {
    SequencedMap<String, GpuTraits> traits = new LinkedHashMap<>();
    for (String type : types) {
      traits.put(type, new GpuTraits(batchLimits, 1, 0));
    }
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
        priority);
  }

  /** Whether the job can run on nodes of this type. */
  public boolean runsOn(String type) {
    return (gpuType.isEmpty() || gpuType.equals(type))
        && (byGpuType.isEmpty() || byGpuType.containsKey(type));
  }

  /** The batches it may use on this GPU type. */
  public BatchLimits batchLimits(String type) {
    GpuTraits traits = byGpuType.get(type);
    return traits == null ? batchLimits : traits.batchLimits();
  }

  /** Slots that one replica takes on this GPU type. */
  public int gpusPerReplica(String type) {
    GpuTraits traits = byGpuType.get(type);
    return traits == null ? 1 : traits.gpusPerReplica();
  }
}
