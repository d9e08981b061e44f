package dev.kastor.engine.exec;

import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.AddToRow;
import dev.kastor.engine.op.RowAt;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;

/** Graphs with branches and loops in all the ways they can be combined, over the same leaves. */
public final class ControlCases {
  private static final int WIDTH = 3;

  /** Operand and first state. */
  public final Node x = Node.input("x", Type.f32(2, WIDTH));

  public final Node weights = Node.parameter("w", Type.f32(WIDTH, WIDTH).shape());
  public final Node bias = Node.parameter("b", Type.f32(WIDTH).shape());

  /** What results depend on. */
  public List<Node> leaves() {
    return List.of(x, weights, bias);
  }

  /** Some values for the leaves, always the same. */
  public Map<Node, double[]> values() {
    SplittableRandom random = new SplittableRandom(5);
    Map<Node, double[]> values = new HashMap<>();
    for (Node leaf : leaves()) {
      values.put(leaf, random.doubles(leaf.shape().elements(), -1, 1).toArray());
    }
    return values;
  }

  /** The same as tensors. */
  public Map<Node, Tensor> feeds(Arena arena) {
    Map<Node, Tensor> feeds = new HashMap<>();
    values()
        .forEach((leaf, values) -> {
          Tensor tensor = Tensor.allocate(arena, leaf.shape(), leaf.type().dtype());
          float[] floats = new float[values.length];
          for (int i = 0; i < values.length; i++) {
            floats[i] = (float) values[i];
          }
          tensor.write(floats, 0);
          feeds.put(leaf, tensor);
        });
    return feeds;
  }

  /** A step of a simple recurrent network. */
  public Node cell(Node state) {
    return state.matMul(weights).add(bias).tanh().add(x.multiply(0.1));
  }

  /** A body repeated a number of times. */
  public static Node loop(Node initial, int times, UnaryOperator<Node> body) {
    return loop(initial, times, body, ControlFlow.PARALLEL_ITERATIONS);
  }

  private static Node loop(Node initial, int times, UnaryOperator<Node> body, int parallel) {
    return ControlFlow.loop(
            List.of(Node.constant(0), initial),
            values -> Node.constant(times - 0.5).greater(values.get(0)),
            values -> List.of(values.get(0).add(1), body.apply(values.get(1))),
            parallel)
        .get(1);
  }

  /** The last node of each graph, by what it shows. */
  public SequencedMap<String, Node> all() {
    SequencedMap<String, Node> cases = new LinkedHashMap<>();
    cases.put("straight line", cell(cell(x)));
    cases.put("loop", loop(x, 5, this::cell));
    cases.put("loop that never runs", loop(x, 0, this::cell));
    cases.put("one iteration at a time", loop(x, 4, this::cell, 1));
    cases.put("loop in loop", loop(x, 3, state -> loop(state, 2, this::cell).multiply(0.7)));
    cases.put("inner loop as long as the outer says", growing());
    for (int sign : new int[] {-1, 1}) {
      cases.put(sign > 0 ? "first branch" : "second branch", branch(sign));
      cases.put(
          "loop in a branch that is " + (sign > 0 ? "" : "not ") + "taken", loopInBranch(sign));
    }
    cases.put("rows read and filled in a loop", rows());
    cases.put("increments in a row", increments());
    cases.put("branch in loop", loop(x, 4, this::branchOnSum));
    return cases;
  }

  /** Each row of the operand, and twice the last one, through the cell's weights. */
  private Node rows() {
    return ControlFlow.loop(
            List.of(Node.constant(0), Node.constant(0).broadcast(x.shape())),
            values -> Node.constant(2.5).greater(values.get(0)),
            values -> {
              Node i = values.get(0);
              Node row = RowAt.of(x, i).reshape(1, WIDTH).matMul(weights).reshape(WIDTH).tanh();
              return List.of(i.add(1), AddToRow.of(values.get(1), i.multiply(0.7), row));
            })
        .get(1);
  }

  /** One after another, each of which may be elsewhere. */
  private Node increments() {
    Node value = x;
    for (int i = 0; i < 6; i++) {
      value =
          AddToRow.of(value, Node.constant(i % 2), RowAt.of(x, Node.constant(1)).multiply(bias));
    }
    return value.tanh();
  }

  private Node growing() {
    return ControlFlow.loop(
            List.of(Node.constant(0), x),
            values -> Node.constant(3.5).greater(values.get(0)),
            values -> {
              Node times = values.get(0);
              List<Node> inner =
                  ControlFlow.loop(
                      List.of(Node.constant(0), values.get(1)),
                      v -> times.add(-0.5).greater(v.get(0)),
                      v -> List.of(v.get(0).add(1), cell(v.get(1))));
              return List.of(times.add(1), inner.get(1));
            })
        .get(1);
  }

  private Node branch(int sign) {
    return ControlFlow.cond(
            Node.constant(sign).greater(Node.constant(0)),
            List.of(x),
            operands -> List.of(cell(operands.getFirst()).exp()),
            operands -> List.of(operands.getFirst().multiply(bias)))
        .getFirst();
  }

  private Node loopInBranch(int sign) {
    return ControlFlow.cond(
            x.sum(0, 2).multiply(0).add(sign).greater(Node.constant(0)),
            List.of(x),
            operands -> List.of(loop(operands.getFirst(), 3, this::cell)),
            operands -> List.of(Node.constant(2).broadcast(x.shape())))
        .getFirst();
  }

  private Node branchOnSum(Node state) {
    return ControlFlow.cond(
            state.sum(0, 2).greater(Node.constant(0.3)),
            List.of(state),
            operands -> List.of(cell(operands.getFirst()).negate()),
            operands -> List.of(operands.getFirst().multiply(bias).add(1)))
        .getFirst();
  }
}
