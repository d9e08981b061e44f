package dev.kastor.engine.backend.reference;

import dev.kastor.engine.graph.Body;
import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Effect;
import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Evaluates nodes one after another, branches and loops by recursion. What bodies computed is all
 * kept until the end.
 */
final class Interpreter {
  /** The values of all nodes in each iteration. */
  private final List<List<Map<Node, double[][]>>> histories = new ArrayList<>();

  private Interpreter() {}

  static List<double[]> evaluate(Graph graph, Map<Node, double[]> leaves) {
    Map<Node, double[][]> values = new HashMap<>();
    leaves.forEach((leaf, value) -> values.put(leaf, new double[][] {value}));
    return new Interpreter().evaluate(graph.outputs(), values);
  }

  private List<double[]> evaluate(List<Node> wanted, Map<Node, double[][]> values) {
    for (Node node : new Graph(wanted).topological(Set.copyOf(values.keySet())::contains)) {
      values.put(node, compute(node, values));
    }
    return wanted.stream().map(node -> values(values, node)[0]).toList();
  }

  private static double[][] values(Map<Node, double[][]> values, Node node) {
    return Objects.requireNonNull(values.get(node), () -> "No value for " + node);
  }

  private double[][] compute(Node node, Map<Node, double[][]> values) {
    if (node.op() instanceof Control.Part part) {
      return new double[][] {values(values, node.input(0))[part.index()]};
    }
    double[][] in =
        node.inputs().stream().map(input -> values(values, input)[0]).toArray(double[][]::new);
    return switch (node.op()) {
      case Primitive primitive -> new double[][] {ReferenceBackend.compute(primitive, node, in)};
      case Fused fused -> new double[][] {define(fused, node, in)};
      case Control.Cond cond -> choose(cond, in);
      case Control.While loop -> repeat(loop, in);
      case Control.Recorded recorded -> new double[][] {recall(recorded.inner(), in)};
      case Control.Group _ -> new double[0][];
      case Control.Part _ -> throw new IllegalStateException(node + " was seen above.");
      case Effect _ ->
          throw new IllegalArgumentException(
              node + " is an effect; this backend computes values alone.");
    };
  }

  private double[] define(Fused fused, Node node, double[][] in) {
    Map<Node, double[][]> values = new HashMap<>();
    List<Node> operands = new ArrayList<>();
    for (int i = 0; i < in.length; i++) {
      Node operand = Node.input("operand", node.input(i).type());
      operands.add(operand);
      values.put(operand, new double[][] {in[i]});
    }
    return evaluate(List.of(fused.decompose(operands)), values).getFirst();
  }

  private double[][] choose(Control.Cond cond, double[][] in) {
    Body body = in[0][0] != 0 ? cond.yes() : cond.no();
    List<Map<Node, double[][]>> history = new ArrayList<>();
    histories.add(history);
    int number = histories.size() - 1;
    double[][] operands = new double[in.length - 1][];
    System.arraycopy(in, 1, operands, 0, operands.length);
    List<double[]> results = new ArrayList<>(run(body, operands, history));
    results.add(new double[] {number});
    return results.toArray(double[][]::new);
  }

  private double[][] repeat(Control.While loop, double[][] in) {
    List<Map<Node, double[][]>> history = new ArrayList<>();
    histories.add(history);
    int number = histories.size() - 1;
    double[][] operands = in.clone();
    while (run(loop.condition(), operands, new ArrayList<>()).getFirst()[0] != 0) {
      double[][] next = run(loop.body(), operands, history).toArray(double[][]::new);
      System.arraycopy(next, 0, operands, 0, next.length);
    }
    List<double[]> results = new ArrayList<>(List.of(operands).subList(0, loop.carried()));
    results.add(new double[] {history.size()});
    results.add(new double[] {number});
    return results.toArray(double[][]::new);
  }

  private List<double[]> run(Body body, double[][] operands, List<Map<Node, double[][]>> history) {
    Map<Node, double[][]> values = new HashMap<>();
    for (int i = 0; i < operands.length; i++) {
      values.put(body.parameters().get(i), new double[][] {operands[i]});
    }
    List<double[]> results = evaluate(body.results(), values);
    history.add(values);
    return results;
  }

  private double[] recall(Node inner, double[][] in) {
    Map<Node, double[][]> values = histories.get((int) in[0][0]).get((int) in[1][0]);
    if (inner.op() instanceof Control.Part part) {
      return values(values, inner.input(0))[part.index()];
    }
    return values(values, inner)[0];
  }
}
