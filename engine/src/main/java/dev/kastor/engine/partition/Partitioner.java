package dev.kastor.engine.partition;

import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Effect;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Pure;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.placement.Device;
import dev.kastor.engine.placement.Placement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Cuts a graph where values go from device to device. The same graph is always cut the same. */
final class Partitioner {
  private final Placement placement;
  private final Rendezvous rendezvous;
  private final Device first;
  private final Set<Node> constants = new HashSet<>();
  private final Map<Device, Map<Node, Node>> clones = new HashMap<>();
  private final Map<Node, Spread> spreads = new HashMap<>();
  private final Map<Node, Integer> depths = new HashMap<>();
  private int transfers;

  private Partitioner(Placement placement, Rendezvous rendezvous) {
    this.placement = placement;
    this.rendezvous = rendezvous;
    this.first = placement.devices().getFirst();
  }

  /**
   * The parts of a graph.
   *
   * @param feeds nodes whose values are given, each on the device where it was placed
   */
  static Map<Device, Part> parts(
      List<Node> fetches, Set<Node> feeds, Placement placement, Rendezvous rendezvous) {
    Partitioner all = new Partitioner(placement, rendezvous);
    Cut cut = new Cut(all, Map.of());
    feeds.forEach(feed -> all.put(all.home(feed), feed, feed));
    new Graph(fetches).topological(feeds::contains).forEach(cut::visit);
    Map<Device, List<Integer>> numbers = new LinkedHashMap<>();
    Map<Device, List<Node>> nodes = new LinkedHashMap<>();
    for (int i = 0; i < fetches.size(); i++) {
      Node fetch = fetches.get(i);
      Device home = all.home(fetch);
      Spread spread = all.spreads.get(fetch);
      if (spread == null) {
        numbers.computeIfAbsent(home, _ -> new ArrayList<>()).add(i);
        nodes.computeIfAbsent(home, _ -> new ArrayList<>()).add(cut.on(home, fetch));
      }
    }
    Map<Device, Part> parts = new LinkedHashMap<>();
    for (Device device : placement.devices()) {
      List<Node> here = new ArrayList<>(nodes.getOrDefault(device, List.of()));
      here.addAll(cut.happens(device));
      if (!here.isEmpty()) {
        parts.put(device, new Part(numbers.getOrDefault(device, List.of()), here));
      }
    }
    return parts;
  }

  /** Where a node is computed; what each device has for itself is at the first. */
  Device home(Node node) {
    return placement.of(node).orElse(first);
  }

  /** What stands for a node on a device, if that has it already. */
  @Nullable Node clone(Device device, Node node) {
    if (constants.contains(node)) {
      return node;
    }
    Map<Node, Node> here = clones.get(device);
    return here == null ? null : here.get(node);
  }

  void put(Device device, Node node, Node clone) {
    int _ = depth(clone); // Now, when all that it needs is known, so that nothing recurses deeply.
    clones.computeIfAbsent(device, _ -> new HashMap<>()).put(node, clone);
  }

  /** Takes in a node that depends on nothing; true if it is one. */
  boolean isConstant(Node node) {
    boolean constant =
        node.op() instanceof Pure && !node.isLeaf() && constants.containsAll(node.needs());
    if (constant) {
      constants.add(node);
    }
    return constant;
  }

  @Nullable Spread spread(Node node) {
    return spreads.get(node);
  }

  void put(Node node, Spread spread) {
    spreads.put(node, spread);
  }

  /**
   * A new way from one device to another.
   *
   * @param earlier what is sent, or takes place before
   */
  Transfer transfer(Device from, Device to, Type type, Node earlier) {
    return new Transfer(rendezvous, "value " + transfers++, from, to, type, depth(earlier) + 2);
  }

  /**
   * How many effects, increments and control flow are on the longest way to a node, on whatever
   * devices: at least as many as each executor finds.
   */
  int depth(Node node) {
    Integer known = depths.get(node);
    if (known != null) {
      return known;
    }
    int own = node.isComputedWithOthers() ? 0 : 1;
    int depth = node.op() instanceof Effect effect ? effect.depth() : 0;
    for (Node input : node.inputs()) {
      depth = Math.max(depth, depth(input) + own);
    }
    for (Node earlier : node.after()) {
      depth = Math.max(depth, depth(earlier) + 1);
    }
    depths.put(node, depth);
    return depth;
  }

  /** Whether each device has its own of a node, such as a history. */
  boolean isEverywhere(Node node) {
    return placement.of(node).isEmpty();
  }

  /** What stands on a device for a node inside a branch or a loop. */
  Node inner(Device device, Node inner) {
    Node clone = clone(device, inner);
    if (clone == null && inner.op() instanceof Control.Part part) {
      Spread spread = spreads.get(inner.input(0));
      clone = spread == null ? null : spread.result(device, part.index());
    }
    if (clone == null) {
      throw new IllegalStateException(inner + " is not on " + device + ".");
    }
    return clone;
  }

  /** All devices that a branch or a loop needs, in their order; at least one. */
  List<Device> devices(Node node) {
    Set<Device> needed = new HashSet<>();
    find(node, needed);
    if (needed.isEmpty()) {
      needed.add(first);
    }
    return placement.devices().stream().filter(needed::contains).toList();
  }

  private void find(Node node, Set<Device> devices) {
    switch (node.op()) {
      case Control.While loop -> {
        for (int i = 0; i < loop.carried(); i++) {
          devices.add(home(loop.body().parameters().get(i)));
        }
        collect(loop.condition().results(), devices);
        collect(loop.body().results(), devices);
      }
      case Control.Cond cond -> {
        collect(cond.yes().results(), devices);
        collect(cond.no().results(), devices);
        for (int i = 0; i < cond.yes().results().size(); i++) {
          devices.add(home(node.part(i)));
        }
      }
      default -> {}
    }
  }

  private void collect(List<Node> results, Set<Device> devices) {
    for (Node node : new Graph(results).topological()) {
      switch (node.op()) {
        case Control.While _, Control.Cond _ -> find(node, devices);
        case Control.Part _ -> {}
        default -> {
          if (!node.isLeaf()) {
            placement.of(node).ifPresent(devices::add);
          }
        }
      }
    }
  }
}
