package dev.kastor.engine.backend;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

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

  /**
   * Reads an input from here in further runs, instead of from memory of its own.
   *
   * @param segment aligned to {@link Tensor#ALIGNMENT}
   * @throws IllegalArgumentException if the graph does not depend on this leaf
   */
  void bind(Node leaf, MemorySegment segment);

  /**
   * Writes an output to here in further runs, instead of to memory of its own; what is bound as an
   * input must not overlap.
   *
   * @param segment aligned to {@link Tensor#ALIGNMENT}
   * @return false if that cannot be, because the output is an input, a constant, or another output
   */
  boolean bindOutput(int index, MemorySegment segment);

  /** Computes the outputs from the inputs. */
  default void run() {
    run(_ -> {});
  }

  /**
   * Computes the outputs from the inputs and tells the number of each as soon as it can be read,
   * from the thread that calls.
   */
  void run(IntConsumer finished);

  /**
   * The same where not all outputs are asked for: what others hold on the host is of no meaning.
   *
   * @param wanted whether somebody reads the output of this number
   */
  default void run(IntPredicate wanted, IntConsumer finished) {
    run(output -> {
      if (wanted.test(output)) {
        finished.accept(output);
      }
    });
  }

  /** An output of the last run, numbered as in the graph; valid until the next run. */
  Tensor output(int index);

  /** Ends its use; its tensors are no longer valid. */
  @Override
  void close();
}
