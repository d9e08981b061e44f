package dev.kastor.engine.backend;

import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.pass.GraphPass;
import dev.kastor.engine.tensor.Layout;
import java.lang.foreign.Arena;
import java.lang.foreign.SegmentAllocator;
import java.util.Optional;

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

  /**
   * The same where some leaves and outputs stay on the device.
   *
   * @param residence places of this backend's vectors
   * @throws IllegalArgumentException if there can be none of these
   */
  default Executable compile(Graph graph, SegmentAllocator memory, Residence residence) {
    if (!residence.equals(Residence.NONE)) {
      throw new IllegalArgumentException(
          "The backend %s computes in the memory of the host.".formatted(name()));
    }
    return compile(graph, memory);
  }

  /**
   * A vector in the memory of the device; empty if the backend computes in that of the host, or if
   * the device has no such long ones.
   */
  default Optional<DeviceVector> vector(Layout layout) {
    return Optional.empty();
  }

  /** True if a graph pass saves work here; any other is applied only if a user says so. */
  default boolean pays(GraphPass pass) {
    return true;
  }

  /** Compiles a graph with memory of its own. */
  default Executable compile(Graph graph) {
    return compile(graph, Residence.NONE);
  }

  /** The same where some leaves and outputs stay on the device. */
  default Executable compile(Graph graph, Residence residence) {
    Arena arena = Arena.ofShared();
    try {
      return new OwnedExecutable(compile(graph, arena, residence), arena::close);
    } catch (RuntimeException e) {
      arena.close();
      throw e;
    }
  }
}
