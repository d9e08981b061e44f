package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What is done to each element of a matrix product before it is stored: biases, residuals and
 * scales that would otherwise read and write all of it once more.
 *
 * <p>A ReLU is not among them: oneDNN's makes 0 of what is not a number, and training must not hide
 * that.
 *
 * @param product the matrix product
 * @param steps in order
 */
record Epilogue(Node product, List<Step> steps) {
  /** As many as a primitive of oneDNN takes; a longer sum has several. */
  private static final int MOST_STEPS = 32;

  /** One thing that is done. */
  sealed interface Step {}

  /** Adds the values of a vector along the last axis. */
  record Bias(Node vector) implements Step {}

  /** Adds the elements of a tensor of the same shape. */
  record Residual(Node tensor) implements Step {}

  /** Multiplies by a number. */
  record Scale(float factor) implements Step {}

  /**
   * The epilogues of a graph, by the node that is their last step; the nodes before it have no
   * values of their own.
   *
   * @param order the nodes, inputs first
   * @param consumers of each node that is no reshape
   * @param kept nodes whose values are asked for
   * @param stored whether a node that is no part of an epilogue has a buffer
   */
  static Map<Node, Epilogue> of(
      List<Node> order, Map<Node, List<Node>> consumers, Set<Node> kept, Predicate<Node> stored) {
    Map<Node, Epilogue> ends = new HashMap<>();
    for (Node node : order) {
      for (int i = 0; i < node.inputs().size() && node.op() instanceof Primitive.Binary; i++) {
        Node inner = Compilation.base(node.input(i));
        Epilogue before =
            inner.op() instanceof Primitive.MatMul
                ? new Epilogue(inner, List.of())
                : ends.get(inner);
        Step step =
            before == null
                    || before.steps.size() == MOST_STEPS
                    || kept.contains(inner)
                    || consumers.getOrDefault(inner, List.of()).size() != 1
                ? null
                : step(node, node.input(1 - i), before.product, ends, stored);
        if (before != null && step != null) {
          List<Step> steps = new ArrayList<>(before.steps);
          steps.add(step);
          ends.remove(inner);
          ends.put(node, new Epilogue(before.product, List.copyOf(steps)));
          break;
        }
      }
    }
    return ends;
  }

  /** What a binary op does to one operand with the other. */
  private static @Nullable Step step(
      Node node, Node other, Node product, Map<Node, Epilogue> ends, Predicate<Node> stored) {
    Primitive.Binary.Kind kind = ((Primitive.Binary) node.op()).kind();
    Node base = Compilation.base(other);
    if (kind == Primitive.Binary.Kind.MULTIPLY) {
      Node number =
          base.op() instanceof Primitive.Broadcast ? Compilation.base(base.input(0)) : base;
      return number.op() instanceof Primitive.Constant constant
          ? new Scale(constant.value())
          : null;
    }
    if (kind != Primitive.Binary.Kind.ADD) {
      return null;
    }
    if (other.op() instanceof Primitive.Broadcast && alongLast(other)) {
      Node vector = Compilation.base(other.input(0));
      // Between the two may be a reshape, which must leave rows what they are.
      boolean row = vector.shape().elements() == product.shape().extent(-1);
      return row && stored.test(vector) ? new Bias(vector) : null;
    }
    return ends.containsKey(base) || stored.test(base) ? new Residual(base) : null;
  }

  /** Whether a broadcast repeats a vector that is the last axis. */
  private static boolean alongLast(Node broadcast) {
    Shape from = broadcast.input(0).shape();
    return from.elements() == from.extent(-1)
        && from.extent(-1) == broadcast.shape().extent(-1)
        && from.extent(-1) > 1;
  }

  /** The buffers that the steps read. */
  List<Node> operands() {
    List<Node> operands = new ArrayList<>();
    for (Step step : steps) {
      switch (step) {
        case Bias bias -> operands.add(bias.vector());
        case Residual residual -> operands.add(residual.tensor());
        case Scale _ -> {}
      }
    }
    return operands;
  }
}
