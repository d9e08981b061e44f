package dev.kastor.engine.train;

/**
 * Steps of a model whose parameters, gradient and optimizer's vectors stay on the device that
 * computes them.
 *
 * <p>It has one gradient: that of the passes of a step, or one that the host gives it. Reading
 * copies from the device only what has changed there since. One thread owns it, that of the model.
 */
public interface DeviceTraining {
  /**
   * Result of a pass.
   *
   * @param loss mean over its examples
   * @param squaredNorm of its gradient; not finite if that is not
   */
  record Passed(double loss, double squaredNorm) {}

  /**
   * Runs a pass of a step.
   *
   * @param examples numbers of training examples
   * @param batchStatistics receives this batch's statistics
   * @param pass of the step, from 0; with the last one its gradient becomes the mean of all
   * @param passes of the step
   */
  Passed pass(int[] examples, float[] batchStatistics, int pass, int passes);

  /** The squared norm of the gradient; not finite if that is not. */
  double squaredNorm();

  /** The gradients of successive steps, to be compared with each other. */
  NoiseScaleEstimator.Successive gradients();

  /** Copies the host's gradient to the device, in place of the one there. */
  void write(float[] gradient);

  /**
   * Updates parameters and the optimizer's vectors by the gradient.
   *
   * @param step steps applied before it
   */
  void apply(double learningRate, long step);

  /** The newest values of one of the optimizer's vectors; whoever asks does not change them. */
  float[] readSlot(String name);

  /** Takes over parameters and optimizer's vectors that were written to the host's arrays. */
  void replaced();
}
