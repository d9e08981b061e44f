package dev.kastor.protocol;

/**
 * Count of the steps that a gang has taken, in the words of its script: {@code POST
 * /v1/jobs/{namespace}/{name}/steps}, sent by the pod of rank 0.
 *
 * @param steps optimizer steps so far, those before a restart included
 * @param batch examples of one step, over all pods
 */
public record StepCount(long steps, long batch) {
  private static final long MOST_BATCH = 1L << 30;

  public StepCount {
    Check.between("steps", steps, 0, Check.MOST_COUNTED);
    Check.between("batch", batch, 1, MOST_BATCH);
  }
}
