package dev.kastor.engine.placement;

import dev.kastor.engine.graph.Node;

/** What a placement is estimated to cost. */
public interface Costs {
  /** How long a device computes a node, in seconds. */
  double seconds(Node node, Device device);

  /** How long a value is on its way between two devices, in seconds. */
  double seconds(long bytes, Device from, Device to);
}
