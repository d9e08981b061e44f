package dev.kastor.scheduler.goodput;

import dev.kastor.protocol.BatchPlan;

/**
 * The batch of highest goodput for a placement.
 *
 * @param plan the batch of each replica
 * @param globalBatchSize examples per step
 * @param throughput examples per second
 * @param efficiency statistical efficiency in (0, 1]
 */
public record BestBatch(BatchPlan plan, int globalBatchSize, double throughput, double efficiency) {
  /** Effective examples per second. */
  public double goodput() {
    return throughput * efficiency;
  }
}
