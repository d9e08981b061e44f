package dev.kastor.engine.placement;

import dev.kastor.engine.graph.Body;
import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Pure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** All nodes of a graph, those in the bodies of its branches and loops included. */
final class Anatomy {
  private final Set<Node> known;
  private final Set<Node> constants = new HashSet<>();
  private final Map<Node, Node> outside = new HashMap<>();
  private final List<Node> order = new ArrayList<>();

  /**
   * Looks at what is needed.
   *
   * @param known nodes whose values are given
   */
  Anatomy(List<Node> wanted, Set<Node> known) {
    this.known = known;
    // What is given is placed as well, where it is used.
    order.addAll(known);
    visit(new Graph(wanted).topological(known::contains));
  }

  private void visit(List<Node> nodes) {
    for (Node node : nodes) {
      if (node.op() instanceof Pure && !node.isLeaf() && constants.containsAll(node.needs())) {
        constants.add(node);
        continue;
      }
      switch (node.op()) {
        case Control.While loop -> {
          visit(loop.condition(), node.inputs(), loop.carried());
          visit(loop.body(), node.inputs(), loop.carried());
        }
        case Control.Cond cond -> {
          List<Node> operands = node.inputs().subList(1, node.inputs().size());
          visit(cond.yes(), operands, 0);
          visit(cond.no(), operands, 0);
        }
        default -> {}
      }
      order.add(node);
    }
  }

  private void visit(Body body, List<Node> inputs, int carried) {
    for (int i = 0; i < inputs.size(); i++) {
      Node parameter = body.parameters().get(i);
      if (i < carried) {
        order.add(parameter);
      } else {
        outside.put(parameter, inputs.get(i));
      }
    }
    Set<Node> given = new HashSet<>(body.parameters());
    visit(new Graph(body.results()).topological(given::contains));
  }

  /** Every node that is placed or holds such, after what it needs. */
  List<Node> order() {
    return order;
  }

  /** Whether a node's value is supplied and not computed. */
  boolean isGiven(Node node) {
    return node.isLeaf() || known.contains(node);
  }

  /**
   * The node whose place says where a value is; empty for what is everywhere: constants, and
   * histories, of which each device has its own.
   */
  Optional<Node> anchor(Node value) {
    Node node = value;
    while (outside.containsKey(node)) {
      node = outside.get(node);
    }
    if (constants.contains(node)) {
      return Optional.empty();
    }
    if (known.contains(node)) {
      return Optional.of(node);
    }
    return switch (node.op()) {
      case Control.Part part -> anchor(node.input(0), part.index());
      case Control.Recorded recorded -> anchor(recorded.inner()).map(_ -> value);
      default -> Optional.of(node);
    };
  }

  private Optional<Node> anchor(Node node, int index) {
    return switch (node.op()) {
      case Control.While loop ->
          index == loop.historyPart()
              ? Optional.empty()
              : Optional.of(loop.body().parameters().get(index == loop.countPart() ? 0 : index));
      case Control.Cond cond ->
          index == cond.yes().results().size() ? Optional.empty() : result(node, cond, index);
      default -> Optional.of(node);
    };
  }

  /** A branch's result is where its first body has it, then the other, then what decides. */
  private Optional<Node> result(Node node, Control.Cond cond, int index) {
    return computed(cond.yes().results().get(index))
        .or(() -> computed(cond.no().results().get(index)))
        .or(() -> anchor(node.input(0)));
  }

  /** The same, empty also for what a body only hands through. */
  Optional<Node> computed(Node result) {
    return outside.containsKey(result) ? Optional.empty() : anchor(result);
  }
}
