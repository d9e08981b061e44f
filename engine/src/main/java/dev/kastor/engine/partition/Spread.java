package dev.kastor.engine.partition;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.placement.Device;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * A branch or a loop that is on several devices.
 *
 * @param nodes what it is on each of them, in their order
 * @param results which of its results each of them has, in the order of that node's results
 */
record Spread(SequencedMap<Device, Node> nodes, Map<Device, List<Integer>> results) {

  /** Whether a device has a result of it. */
  boolean has(Device device, int number) {
    return results.getOrDefault(device, List.of()).contains(number);
  }

  /** A result of it, from a device that has it. */
  Node result(Device device, int number) {
    Node node = nodes.get(device);
    if (node == null || !has(device, number)) {
      throw new IllegalStateException("%s has no result %d.".formatted(device, number));
    }
    return node.part(results.getOrDefault(device, List.of()).indexOf(number));
  }
}
