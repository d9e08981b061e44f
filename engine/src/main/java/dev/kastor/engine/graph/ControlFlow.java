package dev.kastor.engine.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Builds branches and loops from functions over nodes.
 *
 * <p>What depends on the parameters of such a function belongs to the body. What does not is
 * computed once, outside, and handed in; so an effect inside must depend on a parameter or come
 * after one.
 */
public final class ControlFlow {
  /** Iterations under way at once unless said otherwise, as TensorFlow has it. */
  public static final int PARALLEL_ITERATIONS = 32;

  private final SequencedMap<Node, Node> captured = new LinkedHashMap<>();
  private final List<Node> earlier = new ArrayList<>();

  private ControlFlow() {}

  /**
   * One of two functions of the operands: {@code yes} if the scalar predicate is not 0. Only the
   * chosen one is computed.
   *
   * @return the results, with the same types from both
   */
  public static List<Node> cond(
      Node predicate,
      List<Node> operands,
      UnaryOperator<List<Node>> yes,
      UnaryOperator<List<Node>> no) {
    ControlFlow flow = new ControlFlow();
    List<Node> yesParameters = parameters(operands);
    List<Node> noParameters = parameters(operands);
    List<Node> yesResults = flow.close(yesParameters, yes.apply(yesParameters));
    List<Node> noResults = flow.close(noParameters, no.apply(noParameters));
    List<Node> inputs = new ArrayList<>(List.of(predicate));
    inputs.addAll(operands);
    inputs.addAll(flow.captured.keySet());
    Node node =
        Node.of(
            new Control.Cond(
                flow.body(yesParameters, yesResults), flow.body(noParameters, noResults)),
            inputs,
            flow.earlier);
    return node.parts().subList(0, yesResults.size());
  }

  /**
   * Repeats a function of the carried values while a condition on them holds.
   *
   * @param initial the carried values of iteration 0
   * @return the carried values for which the condition no longer holds
   */
  public static List<Node> loop(
      List<Node> initial, Function<List<Node>, Node> condition, UnaryOperator<List<Node>> body) {
    return loop(initial, condition, body, PARALLEL_ITERATIONS);
  }

  /**
   * Repeats a function of the carried values while a condition on them holds.
   *
   * @param parallelIterations how many iterations may be under way at once, at least 1
   */
  public static List<Node> loop(
      List<Node> initial,
      Function<List<Node>, Node> condition,
      UnaryOperator<List<Node>> body,
      int parallelIterations) {
    if (parallelIterations < 1) {
      throw new IllegalArgumentException(
          "parallelIterations must be at least 1, got " + parallelIterations + ".");
    }
    ControlFlow flow = new ControlFlow();
    List<Node> tested = parameters(initial);
    List<Node> repeated = parameters(initial);
    List<Node> test = flow.close(tested, List.of(condition.apply(tested)));
    List<Node> next = flow.close(repeated, body.apply(repeated));
    List<Node> inputs = new ArrayList<>(initial);
    inputs.addAll(flow.captured.keySet());
    Node node =
        Node.of(
            new Control.While(
                flow.body(tested, test),
                flow.body(repeated, next),
                initial.size(),
                parallelIterations),
            inputs,
            flow.earlier);
    return node.parts().subList(0, initial.size());
  }

  private static List<Node> parameters(List<Node> values) {
    return values.stream().map(value -> Node.input("parameter", value.type())).toList();
  }

  /** The results with inputs in place of what lies outside, which is remembered. */
  private List<Node> close(List<Node> parameters, List<Node> results) {
    Set<Node> inside = new HashSet<>(parameters);
    Set<Node> constant = new HashSet<>();
    Map<Node, Node> inner = new HashMap<>();
    for (Node node : new Graph(results).topological()) {
      List<Node> needs = node.needs();
      if (needs.stream().anyMatch(inside::contains)) {
        inside.add(node);
        capture(node.inputs(), inside, constant);
        for (Node outer : node.after()) {
          if (!inside.contains(outer)) {
            // The whole node comes after it, so what is inside comes after any parameter.
            earlier.add(outer);
            inner.put(outer, parameters.getFirst());
          }
        }
      } else if (!inside.contains(node)
          && !node.isLeaf()
          && node.op() instanceof Pure
          && constant.containsAll(needs)) {
        constant.add(node);
      }
    }
    capture(results, inside, constant);
    inner.putAll(captured);
    return new Rewrite(inner).of(results);
  }

  private void capture(List<Node> used, Set<Node> inside, Set<Node> constant) {
    for (Node node : used) {
      if (!inside.contains(node) && !constant.contains(node)) {
        captured.computeIfAbsent(node, outer -> Node.input("captured", outer.type()));
      }
    }
  }

  /** Both bodies of a node take all that either captured. */
  private Body body(List<Node> parameters, List<Node> results) {
    Map<Node, Node> own = new LinkedHashMap<>();
    captured.values().forEach(node -> own.put(node, Node.input("captured", node.type())));
    List<Node> all = new ArrayList<>(parameters);
    all.addAll(own.values());
    return new Body(all, new Rewrite(own).of(results));
  }
}
