package dev.kastor.engine.backend;

import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.pass.GraphPass;
import java.lang.foreign.Arena;
import java.lang.foreign.SegmentAllocator;

/** A device, or a way to use one. */
public interface Backend {
  /** Its name, such as {@code cpu}. */
  String name();

  /**
   * Plans memory and kernels once, so that running allocates nothing that lasts.
   *
   * @param memory gives zeros aligned to {@link dev.kastor.engine.tensor.Tensor#ALIGNMENT};
   *     outlives the executable
   */
  Executable compile(Graph graph, SegmentAllocator memory);

  /** Whether a graph pass saves work here; one that does not is applied only if a user says so. */
  default boolean pays(GraphPass pass) {
    return true;
  }

  /** Compiles a graph with memory of its own. */
  default Executable compile(Graph graph) {
    Arena arena = Arena.ofShared();
    try {
      return new OwnedExecutable(compile(graph, arena), arena);
    } catch (RuntimeException e) {
      arena.close();
      throw e;
    }
  }
}
