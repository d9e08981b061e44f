package dev.kastor.engine.graph;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Nodes with others in their place, and all that depends on them made anew; the rest stays the same
 * object.
 */
public final class Rewrite {
  private final Map<Node, Node> rewritten;

  /** A rewrite that begins with these replacements. */
  public Rewrite(Map<Node, Node> replacements) {
    rewritten = new HashMap<>(replacements);
  }

  /** A node after the replacements. */
  public Node of(Node node) {
    return of(List.of(node)).getFirst();
  }

  /** Nodes after the replacements. */
  public List<Node> of(List<Node> nodes) {
    for (Node node : new Graph(nodes).topological(Set.copyOf(rewritten.keySet())::contains)) {
      if (!rewritten.containsKey(node)) {
        rewritten.put(node, node.with(known(node.inputs()), known(node.after())));
      }
    }
    return known(nodes);
  }

  private List<Node> known(List<Node> nodes) {
    return nodes.stream()
        .map(node -> Objects.requireNonNull(rewritten.get(node), () -> "Unvisited " + node))
        .toList();
  }
}
