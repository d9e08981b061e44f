package dev.kastor.engine.backend;

import dev.kastor.engine.graph.Node;
import java.util.Map;

/**
 * Leaves and outputs of a graph that lie in vectors of the device, from where no run copies them.
 *
 * <p>An output may take the place of a leaf that it is computed from element by element, if nothing
 * else is computed from the leaf after it.
 *
 * @param leaves with their places
 * @param outputs numbers of outputs with their places
 */
public record Residence(
    Map<Node, DeviceVector.Place> leaves, Map<Integer, DeviceVector.Place> outputs) {
  /** All is copied. */
  public static final Residence NONE = new Residence(Map.of(), Map.of());

  public Residence {
    leaves = Map.copyOf(leaves);
    outputs = Map.copyOf(outputs);
  }
}
