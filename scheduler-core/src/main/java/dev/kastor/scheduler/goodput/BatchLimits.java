package dev.kastor.scheduler.goodput;

/**
 * The batch sizes a job may use, in examples.
 *
 * @param initialGlobalBatch M0, which the learning rate was tuned for
 * @param maxGlobalBatch largest global batch
 * @param minAtomicBatch smallest batch per replica and pass
 * @param maxAtomicBatch largest batch per replica and pass (what fits the device)
 * @param accumulation whether a replica may accumulate gradients over several passes
 * @param targetGlobalBatch the batch that a job keeps which does not choose it by goodput
 */
public record BatchLimits(
    int initialGlobalBatch,
    int maxGlobalBatch,
    int minAtomicBatch,
    int maxAtomicBatch,
    boolean accumulation,
    int targetGlobalBatch) {
  /** Limits of a job that starts from, and without a goodput model stays at, M0. */
  public BatchLimits(
      int initialGlobalBatch,
      int maxGlobalBatch,
      int minAtomicBatch,
      int maxAtomicBatch,
      boolean accumulation) {
    this(
        initialGlobalBatch,
        maxGlobalBatch,
        minAtomicBatch,
        maxAtomicBatch,
        accumulation,
        initialGlobalBatch);
  }

  public BatchLimits {
    if (initialGlobalBatch < 1 || minAtomicBatch < 1) {
      throw new IllegalArgumentException(
          "initialGlobalBatch (%d) and minAtomicBatch (%d) must be at least 1"
              .formatted(initialGlobalBatch, minAtomicBatch));
    }
    if (maxGlobalBatch < initialGlobalBatch) {
      throw new IllegalArgumentException(
          "maxGlobalBatch (%d) is below initialGlobalBatch (%d)"
              .formatted(maxGlobalBatch, initialGlobalBatch));
    }
    if (maxAtomicBatch < minAtomicBatch) {
      throw new IllegalArgumentException(
          "maxAtomicBatch (%d) is below minAtomicBatch (%d)"
              .formatted(maxAtomicBatch, minAtomicBatch));
    }
    if (targetGlobalBatch < 1 || targetGlobalBatch > maxGlobalBatch) {
      throw new IllegalArgumentException(
          "targetGlobalBatch (%d) must be between 1 and maxGlobalBatch (%d)"
              .formatted(targetGlobalBatch, maxGlobalBatch));
    }
  }

  /** The same with another largest atomic batch. */
  public BatchLimits withMaxAtomicBatch(int largest) {
    return new BatchLimits(
        initialGlobalBatch,
        maxGlobalBatch,
        minAtomicBatch,
        largest,
        accumulation,
        targetGlobalBatch);
  }

  /**
   * The same where at most so many examples fit a device in one pass, but never fewer than the
   * smallest batch that the job may have. A share just above what fits is split into two passes of
   * half the size, which is therefore allowed.
   */
  public BatchLimits fitting(int mostExamples) {
    if (mostExamples >= maxAtomicBatch) {
      return this;
    }
    int largest = Math.max(minAtomicBatch, mostExamples);
    return new BatchLimits(
        initialGlobalBatch,
        maxGlobalBatch,
        Math.min(minAtomicBatch, Math.ceilDiv(largest, 2)),
        largest,
        accumulation,
        targetGlobalBatch);
  }

  /** The same with another largest global batch; the target comes down with it. */
  public BatchLimits withMaxGlobalBatch(int largest) {
    return new BatchLimits(
        initialGlobalBatch,
        largest,
        minAtomicBatch,
        maxAtomicBatch,
        accumulation,
        Math.min(targetGlobalBatch, largest));
  }

  /** The same for a job that keeps this global batch. */
  public BatchLimits withTarget(int globalBatch) {
    return new BatchLimits(
        initialGlobalBatch,
        maxGlobalBatch,
        minAtomicBatch,
        maxAtomicBatch,
        accumulation,
        globalBatch);
  }
}
