package dev.kastor.engine.nn;

import dev.kastor.engine.tensor.Tensor;
import java.util.function.IntConsumer;

/**
 * Pass of a network over one number of examples, for training or for inference.
 *
 * <p>Outputs: in training the mean loss, in inference the loss of each position and the logits.
 */
interface Pass extends AutoCloseable {
  /** Runs it where nobody wants the gradient on the host. */
  void run(Batch batch, float[] statistics);

  /**
   * Runs it for training.
   *
   * @param statistics running ones
   * @param gradient receives the gradients of the parameters side by side
   * @param ready told from which element on the gradient is there, again and again, down to 0
   */
  void run(Batch batch, float[] statistics, float[] gradient, IntConsumer ready);

  /** An output of the last run; valid until the next. */
  Tensor output(int index);

  /**
   * Copies the statistics of the last run's batch.
   *
   * @param flat receives them side by side
   */
  void readStatistics(float[] flat);

  @Override
  void close();
}
