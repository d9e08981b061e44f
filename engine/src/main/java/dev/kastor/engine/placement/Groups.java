package dev.kastor.engine.placement;

import dev.kastor.engine.graph.Node;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Nodes that have to be on one device, and which devices each such group allows. */
final class Groups {
  private final List<Device> devices;
  private final Map<Node, Node> leaders = new HashMap<>();
  private final Map<Node, Set<Device>> allowed = new HashMap<>();
  private final Map<Node, Node> whoSaid = new HashMap<>();

  Groups(List<Device> devices) {
    this.devices = devices;
  }

  /** Takes a node in, alone at first. */
  void add(Node node) {
    if (leaders.putIfAbsent(node, node) != null) {
      return;
    }
    Set<Device> may = new LinkedHashSet<>();
    for (Device device : devices) {
      if (device.isAt(node.place())) {
        may.add(device);
      }
    }
    if (may.isEmpty()) {
      throw new IllegalArgumentException(
          "%s is to be computed on '%s'; there are %s.".formatted(node, node.place(), devices));
    }
    allowed.put(node, may);
    whoSaid.put(node, node);
  }

  /** Has two nodes on one device. */
  void join(Node one, Node other) {
    add(one);
    add(other);
    Node first = leader(one);
    Node second = leader(other);
    if (first == second) {
      return;
    }
    Set<Device> both = new LinkedHashSet<>(allowed(first));
    both.retainAll(allowed(second));
    if (both.isEmpty()) {
      Node a = whoSaid.getOrDefault(first, first);
      Node b = whoSaid.getOrDefault(second, second);
      throw new IllegalArgumentException(
          "%s on '%s' and %s on '%s' have to be on one device."
              .formatted(a, a.place(), b, b.place()));
    }
    boolean secondSays = allowed(second).size() < allowed(first).size();
    leaders.put(second, first);
    allowed.put(first, both);
    if (secondSays) {
      whoSaid.put(first, whoSaid.getOrDefault(second, second));
    }
  }

  /** What stands for a node's group. */
  Node leader(Node node) {
    Node leader = node;
    while (true) {
      Node next = leaders.getOrDefault(leader, leader);
      if (next == leader) {
        return leader;
      }
      leader = next;
    }
  }

  /** The devices on which a group may be; never empty. */
  Set<Device> allowed(Node leader) {
    return allowed.getOrDefault(leader, Set.copyOf(devices));
  }
}
