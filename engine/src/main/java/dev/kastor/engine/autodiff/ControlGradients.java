package dev.kastor.engine.autodiff;

import dev.kastor.engine.graph.Body;
import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Increment;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Pure;
import dev.kastor.engine.graph.Rewrite;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * The gradients of branches and loops (Yu et al., EuroSys 2018, section 5.1): a branch's is the
 * branch on the same predicate of its bodies' gradients, a loop's is a loop that walks the
 * iterations backwards. What the forward bodies computed and the backward ones need is recorded.
 */
final class ControlGradients {
  private ControlGradients() {}

  /**
   * The gradients of a node's float inputs.
   *
   * @param seeds gradients of its results by their number; at least one
   * @return by the number of the input
   */
  static Map<Integer, Node> of(Node node, SortedMap<Integer, Node> seeds) {
    return switch (node.op()) {
      case Control.Cond cond -> of(node, cond, seeds);
      case Control.While loop -> of(node, loop, seeds);
      default -> Map.of(); // An effect: it has no gradient.
    };
  }

  private static Map<Integer, Node> of(
      Node node, Control.Cond cond, SortedMap<Integer, Node> partial) {
    List<Integer> results = floats(cond.yes().results());
    List<Integer> operands = floats(cond.yes().parameters());
    if (results.isEmpty() || operands.isEmpty()) {
      return Map.of();
    }
    // All that the bodies need is handed in, so that it is used in the branch alone.
    List<Node> given = new ArrayList<>(List.of(node.part(cond.yes().results().size())));
    given.addAll(seeds(cond.yes(), results, partial));
    given.addAll(node.inputs().subList(1, node.inputs().size()));
    List<Node> gradients =
        ControlFlow.cond(
            node.input(0),
            given,
            parameters -> branch(cond.yes(), results, operands, parameters),
            parameters -> branch(cond.no(), results, operands, parameters));
    Map<Integer, Node> byInput = new LinkedHashMap<>();
    for (int i = 0; i < operands.size(); i++) {
      byInput.put(1 + operands.get(i), gradients.get(i));
    }
    return byInput;
  }

  private static List<Node> branch(
      Body body, List<Integer> results, List<Integer> operands, List<Node> parameters) {
    Node history = parameters.getFirst();
    Backward backward = Backward.of(body, results, operands);
    Map<Node, Node> known = new HashMap<>();
    for (int i = 0; i < results.size(); i++) {
      known.put(backward.seeds.get(i), parameters.get(1 + i));
    }
    for (int i = 0; i < body.parameters().size(); i++) {
      known.put(body.parameters().get(i), parameters.get(1 + results.size() + i));
    }
    // The iteration of a branch is 0; it depends on a parameter so that it is read inside.
    return backward.over(known, x -> Node.of(new Control.Recorded(x), history, Node.constant(0)));
  }

  private static Map<Integer, Node> of(
      Node node, Control.While loop, SortedMap<Integer, Node> partial) {
    Body body = loop.body();
    List<Integer> carried = floats(body.results());
    List<Integer> variables = floats(body.parameters());
    List<Integer> invariants = variables.stream().filter(i -> i >= loop.carried()).toList();
    if (carried.isEmpty()) {
      return Map.of();
    }
    Backward backward = Backward.of(body, carried, variables);
    Node history = node.part(loop.historyPart());
    List<Node> initial = new ArrayList<>();
    initial.add(node.part(loop.countPart()).add(-1));
    initial.addAll(seeds(body, carried, partial));
    for (int i : invariants) {
      initial.add(Node.constant(0).broadcast(body.parameters().get(i).shape()));
    }
    List<Node> last =
        ControlFlow.loop(
            initial,
            values -> values.getFirst().greater(Node.constant(-0.5)),
            values -> {
              Node iteration = values.getFirst();
              Map<Node, Node> known = new HashMap<>();
              for (int i = 0; i < carried.size(); i++) {
                known.put(backward.seeds.get(i), values.get(1 + i));
              }
              for (int i = loop.carried(); i < body.parameters().size(); i++) {
                known.put(body.parameters().get(i), node.input(i));
              }
              List<Node> pulled =
                  backward.over(known, x -> Node.of(new Control.Recorded(x), history, iteration));
              List<Node> next = new ArrayList<>(List.of(iteration.add(-1)));
              next.addAll(pulled.subList(0, carried.size()));
              for (int i = carried.size(); i < pulled.size(); i++) {
                next.add(Increment.sum(values.get(1 + i), pulled.get(i)));
              }
              return next;
            },
            loop.parallelIterations());
    Map<Integer, Node> byInput = new LinkedHashMap<>();
    for (int i = 0; i < variables.size(); i++) {
      byInput.put(variables.get(i), last.get(1 + i));
    }
    return byInput;
  }

  private static List<Integer> floats(List<Node> nodes) {
    return IntStream.range(0, nodes.size()).filter(i -> nodes.get(i).isFloat()).boxed().toList();
  }

  private static List<Node> seeds(Body body, List<Integer> wanted, Map<Integer, Node> partial) {
    List<Node> seeds = new ArrayList<>();
    for (int i : wanted) {
      Node seed = partial.get(i);
      Node zero = Node.constant(0).broadcast(body.results().get(i).shape());
      seeds.add(seed == null ? zero : seed);
    }
    return seeds;
  }

  /**
   * The gradient of a body as a graph over the body's own nodes.
   *
   * @param seeds inputs for the gradients of the results
   * @param gradients of the body's variables
   */
  private record Backward(Body body, List<Node> seeds, List<Node> gradients) {
    static Backward of(Body body, List<Integer> results, List<Integer> variables) {
      List<Node> values = results.stream().map(body.results()::get).toList();
      List<Node> seeds = values.stream().map(value -> Node.input("seed", value.type())).toList();
      List<Node> wanted = variables.stream().map(body.parameters()::get).toList();
      return new Backward(body, seeds, Gradients.of(values, seeds, wanted));
    }

    /**
     * The gradients where some nodes are known, and the rest of what the body computed is recalled.
     */
    List<Node> over(Map<Node, Node> known, Function<Node, Node> recall) {
      Map<Node, Node> replaced = new HashMap<>(known);
      Set<Node> forward = new HashSet<>(new Graph(body.results()).topological());
      forward.addAll(body.parameters());
      Set<Node> constant = constants(forward);
      for (Node node : new Graph(gradients).topological(forward::contains)) {
        if (node.op() instanceof Control.Part && forward.contains(node.input(0))) {
          replaced.put(node, recall.apply(node)); // A count or a history of something inside.
          continue;
        }
        node.inputs().stream()
            .filter(forward::contains)
            .forEach(input -> bring(input, constant, replaced, recall));
      }
      gradients.stream()
          .filter(forward::contains)
          .forEach(node -> bring(node, constant, replaced, recall));
      return new Rewrite(replaced).of(gradients);
    }

    private static Set<Node> constants(Set<Node> forward) {
      Set<Node> constant = new HashSet<>();
      for (Node node : new Graph(List.copyOf(forward)).topological()) {
        if (!node.isLeaf() && node.op() instanceof Pure && constant.containsAll(node.needs())) {
          constant.add(node);
        }
      }
      return constant;
    }

    /** Finds what stands for a forward node; what only moves elements is done again. */
    private static void bring(
        Node node, Set<Node> constant, Map<Node, Node> replaced, Function<Node, Node> recall) {
      if (replaced.containsKey(node) || constant.contains(node)) {
        return;
      }
      switch (node.op()) {
        case Primitive.Broadcast _, Primitive.Reshape _, Primitive.Permute _ ->
            bring(node.input(0), constant, replaced, recall);
        default -> replaced.put(node, recall.apply(node));
      }
    }
  }
}
