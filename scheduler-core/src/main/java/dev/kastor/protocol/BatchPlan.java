package dev.kastor.protocol;

/**
 * How one replica splits its share of a global batch.
 *
 * @param atomicBatchSize examples per replica in one forward-backward pass, at least 1
 * @param accumulationSteps extra passes before the update, at least 0
 */
public record BatchPlan(int atomicBatchSize, int accumulationSteps) {
  public BatchPlan {
    Check.atLeast("atomicBatchSize", atomicBatchSize, 1);
    Check.atLeast("accumulationSteps", accumulationSteps, 0);
    Check.between(
        "atomicBatchSize * (accumulationSteps + 1)",
        atomicBatchSize * (accumulationSteps + 1L),
        1,
        Integer.MAX_VALUE);
  }

  /** Examples of one optimizer step over all replicas. */
  public int globalBatchSize(int replicas) {
    return Math.multiplyExact(replicas, atomicBatchSize * (accumulationSteps + 1));
  }
}
