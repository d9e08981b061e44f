package dev.kastor.scheduler;

/**
 * The batch sizes a job may use, in examples.
 *
 * @param initialGlobalBatch M0, which the learning rate was tuned for
 * @param maxGlobalBatch largest global batch
 * @param minAtomicBatch smallest batch per replica and pass
 * @param maxAtomicBatch largest batch per replica and pass (what fits the device)
 * @param accumulation whether a replica may accumulate gradients over several passes
 */
public record BatchLimits(
    int initialGlobalBatch,
    int maxGlobalBatch,
    int minAtomicBatch,
    int maxAtomicBatch,
    boolean accumulation) {
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
  }
}
