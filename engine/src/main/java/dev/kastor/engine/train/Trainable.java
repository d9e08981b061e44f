package dev.kastor.engine.train;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Touched;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.IntConsumer;

/**
 * A model bound to its training and held-out data.
 *
 * <p>Not thread-safe: one training thread owns it.
 */
public interface Trainable extends AutoCloseable {
  /** Examples in the training set, numbered from 0. */
  int trainingExamples();

  /**
   * The trained parameters as one flat vector. The optimizer writes into it until the next pass;
   * after that it asks again, as the newest values may be on a device by then.
   */
  float[] parameters();

  /** The same for those who do not write, which costs a device no copy. */
  default float[] readParameters() {
    return parameters();
  }

  /**
   * Takes the steps of an optimizer to the device that has the parameters; empty where that is the
   * host, or where the optimizer's update is no graph.
   *
   * @param slots the optimizer's vectors by name, from here on read and changed through the result
   *     alone
   */
  default Optional<DeviceTraining> onDevice(
      Optimizer optimizer, SequencedMap<String, float[]> slots) {
    return Optional.empty();
  }

  /** The layout of {@link #parameters}; without knowledge of it, one tensor. */
  default Layout layout() {
    return Layout.of("parameters", parameters().length);
  }

  /** Running statistics that are not trained (batch norm), flat and live; may be empty. */
  float[] statistics();

  /**
   * One forward-backward pass.
   *
   * @param examples numbers of training examples; their count is the atomic batch size
   * @param gradient receives the gradient of the mean loss, same length as {@link #parameters}
   * @param batchStatistics receives this batch's statistics, same length as {@link #statistics}
   * @return the mean loss
   */
  double pass(int[] examples, float[] gradient, float[] batchStatistics);

  /**
   * The same where somebody can use a part of the gradient before all of it is there.
   *
   * @param ready told from which element on the gradient is final, again and again, down to 0; from
   *     the thread that calls
   */
  default double pass(
      int[] examples, float[] gradient, float[] batchStatistics, IntConsumer ready) {
    double loss = pass(examples, gradient, batchStatistics);
    ready.accept(0);
    return loss;
  }

  /**
   * Losses of single examples by the current parameters, as held-out examples are scored; empty
   * where the model cannot tell them. Selectors of examples ask for them.
   */
  default Optional<ExampleLosses> exampleLosses() {
    return Optional.empty();
  }

  /** Losses of single examples; changes nothing of the model. */
  @FunctionalInterface
  interface ExampleLosses {
    /**
     * Finds the loss of each of some training examples.
     *
     * @param losses receives them, as many as there are examples
     */
    void read(int[] examples, float[] losses);
  }

  /**
   * Rows that passes over some examples read of tables, such as embeddings; what is not named is
   * read as a whole. Parameter servers are asked for no others, and get the gradient of no others.
   */
  default List<Touched> touched(int[] examples) {
    return List.of();
  }

  /** Folds statistics, averaged over all passes and replicas of a step, into the running ones. */
  void applyStatistics(float[] meanBatchStatistics);

  /** The held-out metric of the current parameters; changes nothing of the model. */
  Metric evaluate();

  /**
   * Held-out examples, each of which costs {@link #evaluate} no more than a training example costs
   * {@link #pass}; 0 where that is not known. Such a model is evaluated at the end alone.
   */
  default int heldOutExamples() {
    return 0;
  }

  /** Runs what a first pass would pay for (loading kernels, compiling) at this batch size. */
  void warmUp(int atomicBatchSize);

  @Override
  void close();

  /** A named held-out result. */
  record Metric(String name, double value, boolean higherIsBetter) {}
}
