package dev.kastor.engine.placement;

import dev.kastor.engine.graph.Node;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The device of each node, those within branches and loops included. */
public final class Placement {
  private final List<Device> devices;
  private final Anatomy anatomy;
  private final Map<Node, Device> byNode;

  Placement(List<Device> devices, Anatomy anatomy, Map<Node, Device> byNode) {
    this.devices = List.copyOf(devices);
    this.anatomy = anatomy;
    this.byNode = Map.copyOf(byNode);
  }

  /** All devices, used or not. */
  public List<Device> devices() {
    return devices;
  }

  /**
   * Where a node is computed, or where a part of one is; empty for what each device has for itself:
   * constants, and the histories of loops and branches.
   */
  public Optional<Device> of(Node node) {
    return anatomy.anchor(node).map(byNode::get);
  }
}
