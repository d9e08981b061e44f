package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Effect;
import dev.kastor.engine.graph.Node;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Groups the pure nodes of one body into regions.
 *
 * <p>The depth of a node is the greatest number of other nodes (effects, control flow, increments)
 * on a way to it, itself included. Neighbours of one depth form a region: no way leaves it and
 * comes back, since what it passes outside would have raised the depth.
 */
final class Clusters {
  private final Map<Node, Integer> depths = new HashMap<>();
  private final Map<Node, Node> leaders = new HashMap<>();
  private final Set<Node> constants = new HashSet<>();
  private final List<Node> order = new ArrayList<>();

  /**
   * Groups nodes.
   *
   * @param order each after what it needs
   */
  Clusters(List<Node> order) {
    for (Node node : order) {
      if (node.isComputedWithOthers() && constants.containsAll(node.needs())) {
        constants.add(node);
      } else {
        visit(node);
        this.order.add(node);
      }
    }
  }

  private void visit(Node node) {
    int own = node.isComputedWithOthers() ? 0 : 1;
    int depth = node.op() instanceof Effect effect ? effect.depth() : 0;
    for (Node input : node.inputs()) {
      depth = Math.max(depth, depth(input) + own);
    }
    for (Node earlier : node.after()) {
      depth = Math.max(depth, depth(earlier) + 1);
    }
    depths.put(node, depth);
    if (own == 0) {
      leaders.put(node, node);
      for (Node input : node.inputs()) {
        if (leaders.containsKey(input) && depth(input) == depth) {
          leaders.put(leader(input), node);
        }
      }
    }
  }

  /** What is known from outside, or constant, has depth 0. */
  private int depth(Node node) {
    return depths.getOrDefault(node, 0);
  }

  private Node leader(Node node) {
    Node leader = node;
    while (true) {
      Node next = Objects.requireNonNull(leaders.get(leader));
      if (next == leader) {
        return leader;
      }
      leader = next;
    }
  }

  /** Whether a node depends on nothing, so that every region may compute it for itself. */
  boolean isConstant(Node node) {
    return constants.contains(node);
  }

  /**
   * Regions, each in the order of its nodes, and other nodes alone: each unit after those that it
   * needs. Constants are in none.
   */
  List<List<Node>> units() {
    Map<Node, List<Node>> units = new LinkedHashMap<>();
    // What is not pure needs lower depths alone; a region may need the other nodes of its depth.
    order.stream()
        .sorted(Comparator.comparingInt(this::depth).thenComparing(Node::isComputedWithOthers))
        .forEach(node -> {
          Node name = leaders.containsKey(node) ? leader(node) : node;
          units.computeIfAbsent(name, _ -> new ArrayList<>()).add(node);
        });
    return List.copyOf(units.values());
  }
}
