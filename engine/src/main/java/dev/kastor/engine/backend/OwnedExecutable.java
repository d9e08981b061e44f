package dev.kastor.engine.backend;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * An executable that owns its memory.
 *
 * @param free gives the memory back
 */
public record OwnedExecutable(Executable executable, Runnable free) implements Executable {
  @Override
  public Tensor input(Node leaf) {
    return executable.input(leaf);
  }

  @Override
  public void bind(Node leaf, MemorySegment segment) {
    executable.bind(leaf, segment);
  }

  @Override
  public boolean bindOutput(int index, MemorySegment segment) {
    return executable.bindOutput(index, segment);
  }

  @Override
  public void run(IntConsumer finished) {
    executable.run(finished);
  }

  @Override
  public void run(IntPredicate wanted, IntConsumer finished) {
    executable.run(wanted, finished);
  }

  @Override
  public Tensor output(int index) {
    return executable.output(index);
  }

  @Override
  public void close() {
    try {
      executable.close();
    } finally {
      free.run();
    }
  }
}
