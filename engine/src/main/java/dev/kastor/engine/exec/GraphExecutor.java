package dev.kastor.engine.exec;

import dev.kastor.engine.backend.DeviceVector;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.Residence;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.pass.GraphPass;
import dev.kastor.engine.tensor.Layout;
import java.util.List;
import java.util.Optional;

/**
 * Executor of whole graphs that are run again and again with inputs in fixed places, each graph
 * under the memory caps of its devices: a {@link Session} on one, or a partitioned one on several.
 */
public interface GraphExecutor extends AutoCloseable {
  /**
   * Says on which devices a network is computed, where there are several: gradients follow.
   *
   * @param results of the network, without its gradients
   * @return the same with places
   */
  default List<Node> place(List<Node> results) {
    return results;
  }

  /**
   * Makes a graph ready to run. Each run tells of outputs as they are there.
   *
   * @param residence what stays in vectors of {@link #vector}
   * @return closed before this is
   * @throws MemoryCapException if it needs more memory than is left, now or in its first run
   */
  Executable compile(Graph graph, Residence residence);

  /**
   * A vector in the memory of a device with which pure graphs are compiled; empty if they are
   * computed in that of the host, or if the device has no such long ones.
   */
  Optional<DeviceVector> vector(Layout layout);

  /** True if a graph pass saves work here; any other is applied only if a user says so. */
  boolean pays(GraphPass pass);

  @Override
  void close();
}
