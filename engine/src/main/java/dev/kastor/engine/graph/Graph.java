package dev.kastor.engine.graph;

import dev.kastor.engine.tensor.Shape;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Everything that some outputs depend on.
 *
 * @param outputs the wanted nodes; may repeat
 */
public record Graph(List<Node> outputs) {
  public Graph {
    outputs = List.copyOf(outputs);
  }

  public static Graph of(Node... outputs) {
    return new Graph(Arrays.asList(outputs));
  }

  /** All nodes, each after its inputs; the order depends on the structure alone. */
  public List<Node> topological() {
    return topological(_ -> false);
  }

  /** The nodes that are needed where some values are known: what lies behind those is left out. */
  public List<Node> topological(Predicate<Node> known) {
    List<Node> order = new ArrayList<>();
    Set<Node> done = new HashSet<>();
    Predicate<Node> missing = node -> !done.contains(node) && !known.test(node);
    Deque<Node> stack = new ArrayDeque<>();
    for (Node output : outputs) {
      stack.push(output);
      while (!stack.isEmpty()) {
        Node node = stack.getFirst();
        if (!missing.test(node)) {
          stack.pop();
          continue;
        }
        Node pending = firstMissing(node, missing);
        if (pending != node) {
          stack.push(pending);
          continue;
        }
        stack.pop();
        done.add(node);
        order.add(node);
      }
    }
    return order;
  }

  private static Node firstMissing(Node node, Predicate<Node> missing) {
    for (Node input : node.inputs()) {
      if (missing.test(input)) {
        return input;
      }
    }
    for (Node earlier : node.after()) {
      if (missing.test(earlier)) {
        return earlier;
      }
    }
    return node;
  }

  /** Whether it has neither control flow nor effects, so that a backend compiles it as a whole. */
  public boolean isPure() {
    return topological().stream().allMatch(node -> node.isLeaf() || node.isComputedWithOthers());
  }

  /** Nodes whose value is supplied at run time, in topological order. */
  public List<Node> leaves() {
    return topological().stream().filter(Node::isLeaf).toList();
  }

  /**
   * The same computation with equal subexpressions merged and fused ops replaced by their
   * definition, except those to keep. Leaves stay the same objects.
   */
  public Graph lower(Predicate<Fused> keep) {
    return new Lowering(keep).apply(this);
  }

  private static final class Lowering {
    private record Key(Op op, List<Integer> inputs) {}

    private final Predicate<Fused> keep;
    private final Map<Node, Node> lowered = new HashMap<>();
    private final Map<Key, Node> known = new HashMap<>();
    private final Map<Node, Integer> numbers = new HashMap<>();

    Lowering(Predicate<Fused> keep) {
      this.keep = keep;
    }

    Graph apply(Graph graph) {
      graph.topological().forEach(this::visit);
      return new Graph(graph.outputs.stream().map(this::visited).toList());
    }

    private Node visited(Node node) {
      return Objects.requireNonNull(lowered.get(node), () -> "Unvisited " + node);
    }

    /** Inputs must have been visited. */
    private void visit(Node node) {
      if (!lowered.containsKey(node)) {
        Node result = lower(node);
        lowered.put(node, result);
        lowered.put(result, result);
      }
    }

    private Node lower(Node node) {
      if (node.isLeaf()) {
        return node;
      }
      List<Node> inputs = node.inputs().stream().map(this::visited).toList();
      if (!node.after().isEmpty() || !(node.op() instanceof Pure)) {
        return node.with(inputs, node.after().stream().map(this::visited).toList());
      }
      if (node.op() instanceof Fused fused && !keep.test(fused)) {
        Node definition = fused.decompose(inputs);
        of(definition).topological().forEach(this::visit);
        return visited(definition);
      }
      Node folded = foldedBefore(node.op(), inputs);
      if (folded != null) {
        of(folded).topological(lowered::containsKey).forEach(this::visit);
        return visited(folded);
      }
      Key key = new Key(node.op(), inputs.stream().map(this::number).toList());
      return known.computeIfAbsent(key, _ -> Node.of(node.op(), inputs));
    }

    /**
     * A fold of what was reshaped as a fold of what it was before, if its axes were some there too:
     * so that equal folds are recognised. Null for everything else.
     */
    private static @Nullable Node foldedBefore(Op op, List<Node> inputs) {
      if (!(op instanceof Primitive.Reduce reduce)
          || !(inputs.getFirst().op() instanceof Primitive.Reshape)) {
        return null;
      }
      Shape shape = inputs.getFirst().shape();
      Node before = inputs.getFirst().input(0);
      int from = axisAfter(before.shape(), 0, shape.elements(0, reduce.from()));
      int to =
          from < 0
              ? -1
              : axisAfter(before.shape(), from, shape.elements(reduce.from(), reduce.to()));
      return to <= from
          ? null
          : Node.of(new Primitive.Reduce(reduce.kind(), from, to), before)
              .reshape(Node.of(op, inputs).shape());
    }

    /** The first axis before which, from another one on, there are so many elements; -1 if none. */
    private static int axisAfter(Shape shape, int from, int elements) {
      for (int to = from; to <= shape.rank(); to++) {
        if (shape.elements(from, to) == elements) {
          return to;
        }
      }
      return -1;
    }

    private int number(Node node) {
      return numbers.computeIfAbsent(node, _ -> numbers.size());
    }
  }
}
