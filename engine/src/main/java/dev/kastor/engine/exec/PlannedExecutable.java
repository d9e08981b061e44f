package dev.kastor.engine.exec;

import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A graph that is run step by step, with inputs in fixed places and the outputs of its last run.
 */
public final class PlannedExecutable implements Executable {
  /** One run. */
  @FunctionalInterface
  public interface Runner {
    /**
     * Computes the outputs of the graph.
     *
     * @param finished told of each by its number, from the thread that calls
     */
    Results run(Map<Node, Tensor> inputs, Fetched finished) throws InterruptedException;
  }

  private final Runner runner;
  private final Runnable free;
  private final Map<Node, Tensor> inputs = new LinkedHashMap<>();
  private final @Nullable Tensor[] outputs;
  private @Nullable Results results;

  /**
   * One whose inputs are zeros.
   *
   * @param place memory for a leaf of the graph
   * @param free ends the use of that memory, and of what the runner keeps
   */
  public PlannedExecutable(
      Graph graph, Runner runner, Function<Node, MemorySegment> place, Runnable free) {
    this.runner = runner;
    this.free = free;
    this.outputs = new Tensor[graph.outputs().size()];
    for (Node leaf : graph.leaves()) {
      inputs.put(leaf, over(place.apply(leaf), leaf.type()));
    }
  }

  private static Tensor over(MemorySegment segment, Type type) {
    return new Tensor(segment, type.shape(), type.dtype());
  }

  /** The bytes of a leaf's value. */
  public static long bytes(Node leaf) {
    return (long) leaf.shape().elements() * leaf.type().dtype().bytes();
  }

  @Override
  public Tensor input(Node leaf) {
    Tensor tensor = inputs.get(leaf);
    if (tensor == null) {
      throw new IllegalArgumentException("The graph does not depend on " + leaf + ".");
    }
    return tensor;
  }

  @Override
  public void bind(Node leaf, MemorySegment segment) {
    Tensor before = input(leaf);
    inputs.put(leaf, new Tensor(segment, before.shape(), before.dtype()));
  }

  /** Never: outputs are where the steps that compute them have them. */
  @Override
  public boolean bindOutput(int index, MemorySegment segment) {
    return false;
  }

  @Override
  public void run(IntConsumer finished) {
    release();
    try {
      results =
          runner.run(
              inputs,
              (output, value) -> {
                outputs[output] = value.tensor();
                finished.accept(output);
              });
    } catch (RuntimeException | Error e) {
      release();
      throw e;
    } catch (InterruptedException e) {
      release();
      Thread.currentThread().interrupt();
      throw new IllegalStateException("A pass was interrupted.", e);
    }
  }

  @Override
  public Tensor output(int index) {
    Tensor output = outputs[index];
    if (output == null) {
      throw new IllegalStateException("Output %d has not been computed.".formatted(index));
    }
    return output;
  }

  private void release() {
    Arrays.fill(outputs, null);
    if (results != null) {
      results.close();
      results = null;
    }
  }

  @Override
  public void close() {
    release();
    free.run();
  }
}
