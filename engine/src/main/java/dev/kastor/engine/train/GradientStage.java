package dev.kastor.engine.train;

/**
 * Change of the mean gradient of a step before the optimizer sees it.
 *
 * <p>All replicas apply it to the same bits and must come to the same ones: no clock, no
 * randomness, no order of a hash table. It has no state of its own. What the noise scale is
 * estimated from, and what tells that training diverged, is the gradient before all stages. Where
 * replicas take local steps ({@link SyncPolicy}), the gradient of each such step is that of one
 * replica, and so is all that is known of it. One thread calls it.
 */
@FunctionalInterface
public interface GradientStage {
  /**
   * Changes a gradient, which is finite.
   *
   * @param gradient mean over the global batch, one number for each parameter
   * @param step what is known of the step, the same on all replicas that have this gradient
   */
  void change(float[] gradient, StepView step);

  /**
   * Step in progress.
   *
   * @param step steps applied before it
   * @param globalBatchSize examples of it
   * @param loss mean loss over them
   */
  record StepView(long step, int globalBatchSize, double loss) {}
}
