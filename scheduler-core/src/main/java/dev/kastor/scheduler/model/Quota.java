package dev.kastor.scheduler.model;

/**
 * How many GPUs the jobs of a queue may hold together.
 *
 * @param gpus what the queue is entitled to
 * @param borrowingLimit most that it may hold beyond that of what its cohort leaves unused; {@link
 *     #UNLIMITED} for as much as there is
 * @param lendingLimit most of its own that others of its cohort may hold; {@link #UNLIMITED} for
 *     all of it
 */
public record Quota(int gpus, int borrowingLimit, int lendingLimit) {
  /** No limit of its own. */
  public static final int UNLIMITED = Integer.MAX_VALUE;

  public Quota {
    if (gpus < 0 || borrowingLimit < 0 || lendingLimit < 0) {
      throw new IllegalArgumentException(
          "gpus (%d), borrowingLimit (%d) and lendingLimit (%d) of a quota must not be negative"
              .formatted(gpus, borrowingLimit, lendingLimit));
    }
  }

  /** A quota that lends and borrows without limit. */
  public Quota(int gpus) {
    this(gpus, UNLIMITED, UNLIMITED);
  }

  /** What others may hold of it. */
  public int lendable() {
    return Math.min(gpus, lendingLimit);
  }

  /** What nobody else may hold, used or not. */
  public int reserved() {
    return gpus - lendable();
  }
}
