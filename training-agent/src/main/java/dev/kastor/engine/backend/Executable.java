package dev.kastor.engine.backend;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.tensor.Tensor;

/**
 * A compiled graph with memory for its values.
 *
 * <p>Write the inputs, {@link #run}, read the outputs. One thread at a time.
 */
public interface Executable extends AutoCloseable {
  /**
   * Where to write the value of an input or parameter; kept between runs.
   *
   * @throws IllegalArgumentException if the graph does not depend on this leaf
   */
  Tensor input(Node leaf);

  /** Computes the outputs from the inputs. */
  void run();

  /** An output of the last run, numbered as in the graph; valid until the next run. */
  Tensor output(int index);

  /** Ends its use; its tensors are no longer valid. */
  @Override
  void close();
}
