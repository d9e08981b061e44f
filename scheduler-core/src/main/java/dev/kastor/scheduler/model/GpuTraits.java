package dev.kastor.scheduler.model;

import dev.kastor.scheduler.goodput.BatchLimits;

/**
 * What a GPU type means for a job that can run on several.
 *
 * @param batchLimits the batches it may use there: memory bounds them
 * @param slotsPerReplica slots of one node that one replica takes: above 1 for a model that is
 *     split over several GPUs
 * @param referenceSpeed examples per second of one replica at its largest atomic batch, from a
 *     profiling run at submission; 0 if there was none
 * @param maxNodes most nodes that policies of the Sia family spread it over
 */
public record GpuTraits(
    BatchLimits batchLimits, int slotsPerReplica, double referenceSpeed, int maxNodes) {
  /** Traits without a bound on nodes. */
  public GpuTraits(BatchLimits batchLimits, int slotsPerReplica, double referenceSpeed) {
    this(batchLimits, slotsPerReplica, referenceSpeed, Integer.MAX_VALUE);
  }

  public GpuTraits {
    if (maxNodes < 1) {
      throw new IllegalArgumentException("maxNodes must be at least 1 but is " + maxNodes);
    }
    if (slotsPerReplica < 1 || !(referenceSpeed >= 0)) {
      throw new IllegalArgumentException(
          "slotsPerReplica (%d) must be at least 1 and referenceSpeed (%s) not negative"
              .formatted(slotsPerReplica, referenceSpeed));
    }
  }

  /** The same with replicas of so many slots. */
  public GpuTraits withSlotsPerReplica(int slots) {
    return new GpuTraits(batchLimits, slots, referenceSpeed, maxNodes);
  }

  /** The same with other batches. */
  public GpuTraits withBatchLimits(BatchLimits limits) {
    return new GpuTraits(limits, slotsPerReplica, referenceSpeed, maxNodes);
  }
}
