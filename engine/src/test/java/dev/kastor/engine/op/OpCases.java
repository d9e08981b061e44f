package dev.kastor.engine.op;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Op;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Primitive.Binary;
import dev.kastor.engine.graph.Primitive.Reduce;
import dev.kastor.engine.graph.Primitive.Unary;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One or more applications of every op to random shapes, which the contract tests run over. An op
 * without a case here fails {@code OpContractTest}.
 */
public final class OpCases {
  /**
   * An op applied to leaves.
   *
   * @param low and {@code high} bound the values of its float leaves
   * @param rows exclusive bound of its integer leaves
   */
  public record Case(
      String label, Node node, List<Node> leaves, double low, double high, int rows) {
    @Override
    public String toString() {
      return label;
    }
  }

  private final SplittableRandom random;
  private final List<Case> cases = new ArrayList<>();

  private OpCases(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** All cases with shapes drawn from a seed. */
  public static List<Case> all(long seed) {
    OpCases cases = new OpCases(seed);
    cases.leaves();
    cases.elementwise();
    cases.movement();
    cases.products();
    cases.fused();
    return cases.cases;
  }

  private int extent() {
    return random.nextInt(1, 6);
  }

  private static Type floats(int... extents) {
    return Type.f32(extents);
  }

  private static Type ints(int... extents) {
    return new Type(Shape.of(extents), DType.I32);
  }

  private void add(Op op, Type... types) {
    add(op, -2, 2, 1, types);
  }

  private void add(Op op, double low, double high, int rows, Type... types) {
    List<Node> leaves = new ArrayList<>();
    for (Type type : types) {
      leaves.add(Node.input("operand" + leaves.size(), type));
    }
    Node node = Node.of(op, leaves);
    cases.add(new Case(op + " of " + List.of(types), node, leaves, low, high, rows));
  }

  private void leaves() {
    Node input = Node.input("x", floats(extent(), extent()));
    cases.add(new Case("Input", input, List.of(input), -2, 2, 1));
    Node parameter = Node.parameter("w", Shape.of(extent(), extent()));
    cases.add(new Case("Parameter", parameter, List.of(parameter), -2, 2, 1));
    add(new Primitive.Constant(1.5f));
    add(new Primitive.Iota(Shape.of(extent(), extent(), extent()), 1));
  }

  private void elementwise() {
    for (Unary.Kind kind : Unary.Kind.values()) {
      add(new Unary(kind), 0.3, 2, 1, floats(extent(), extent()));
    }
    add(new Unary(Unary.Kind.RELU), floats(2100));
    for (Binary.Kind kind : Binary.Kind.values()) {
      Type type = floats(extent(), extent(), extent());
      add(new Binary(kind), 0.3, 2, 1, type, type);
    }
    Type type = floats(extent(), extent());
    add(new Primitive.Select(), type, type, type);
    add(new Reduce(Reduce.Kind.SUM, 0, 1), floats(extent(), extent()));
    add(new Reduce(Reduce.Kind.SUM, 0, 1), floats(71, 63));
    add(new Reduce(Reduce.Kind.SUM, 1, 3), floats(extent(), extent(), extent(), extent()));
    add(new Reduce(Reduce.Kind.SUM, 2, 3), floats(extent(), extent(), extent()));
    add(new Reduce(Reduce.Kind.MAXIMUM, 1, 2), floats(extent(), extent(), extent()));
  }

  private void movement() {
    add(new Primitive.Broadcast(Shape.of(4, 3, 5)), floats(4, 1, 5));
    add(new Primitive.Broadcast(Shape.of(4, 3, 5)), floats(1, 3, 1));
    add(new Primitive.Broadcast(Shape.of(40, 65)), floats(1, 65));
    add(new Primitive.Reshape(Shape.of(6, 2)), floats(3, 4));
    add(new Primitive.Permute(List.of(2, 0, 1)), floats(extent(), extent(), extent()));
    add(new Primitive.Slice(1, 1, 3), floats(extent(), 4, extent()));
    add(new Primitive.Pad(1, 2, 1), floats(extent(), extent(), extent()));
    add(new Primitive.Gather(), -2, 2, 5, floats(5, extent()), ints(3, 4));
    add(new Primitive.ScatterAdd(5), -2, 2, 5, floats(3, 4, 2), ints(3, 4));
    add(new Primitive.ScatterAdd(5), -2, 2, 5, floats(3, 4, 40), ints(3, 4));
    add(new Primitive.OneHot(4), -2, 2, 4, ints(extent(), extent()));
    add(new RowAt(), -1, 3, 1, floats(3, extent(), extent()), floats());
    add(new RowAt(), -1, 3, 1, floats(3), floats());
    add(new AddToRow(), -1, 3, 1, floats(3, 2, 5), floats(), floats(2, 5));
  }

  private void products() {
    int m = extent();
    int n = extent();
    int k = extent();
    add(new Primitive.MatMul(false, false), floats(m, k), floats(k, n));
    add(new Primitive.MatMul(true, false), floats(2, k, m), floats(2, k, n));
    add(new Primitive.MatMul(false, true), floats(2, 3, m, k), floats(2, 3, n, k));
    add(new Primitive.MatMul(true, true), floats(k, m), floats(n, k));
    for (int stride = 1; stride <= 2; stride++) {
      add(new Primitive.Convolution(stride, 1), floats(2, 5, 6, 3), floats(3, 3, 3, 2));
      int height = (5 - 1) / stride + 1;
      int width = (6 - 1) / stride + 1;
      Type result = floats(2, height, width, 2);
      add(new Primitive.ConvolutionImage(stride, 1, 5, 6), result, floats(3, 3, 3, 2));
      add(new Primitive.ConvolutionKernel(stride, 1, 3, 3), floats(2, 5, 6, 3), result);
    }
  }

  private void fused() {
    add(new Gelu(), floats(extent(), extent()));
    add(new Softmax(false), floats(extent(), extent() + 1));
    add(new Softmax(true), floats(2, 4, 4));
    add(new SoftmaxGradient(), floats(3, 4), floats(3, 4));
    add(new SoftmaxCrossEntropy(), -2, 2, 4, floats(3, 4), ints(3));
    add(new SoftmaxCrossEntropyGradient(), -2, 2, 4, floats(3, 4), ints(3), floats(3));
    add(new MaxPool(2), floats(2, 4, 6, 3));
    Node image = Node.input("image", floats(2, 4, 6, 3));
    Node gradient = Node.input("gradient", floats(2, 2, 3, 3));
    Node pooled = Node.of(new MaxPool(2), image);
    Node pulled = Node.of(new MaxPoolGradient(2), image, pooled, gradient);
    cases.add(new Case("MaxPoolGradient", pulled, List.of(image, gradient), -2, 2, 1));
    for (Recurrent.Cell cell : Recurrent.Cell.values()) {
      int width = cell.gates() * 3;
      add(new Recurrent(cell), floats(4, 2, width), floats(3, width), floats(width));
      add(new Recurrent(cell), floats(1, 2, width), floats(3, width), floats(width));
      Type states = floats(3, 2, cell.parts() * 3);
      add(new RecurrentGradient(cell), -1, 1, 1, states, floats(3, width), states);
    }
    add(new Normalize(1e-5f), floats(3, 7));
    add(new NormalizeGradient(1e-5f), floats(3, 7), floats(3, 7), floats(3, 7));
  }
}
