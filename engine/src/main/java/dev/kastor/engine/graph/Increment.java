package dev.kastor.engine.graph;

import dev.kastor.engine.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * A fused op that adds to few places of its first input, {@code first + f(others)}, and keeps its
 * shape.
 *
 * <p>Who executes it and alone holds the first input may have that changed where it lies. A loop
 * that fills a tensor row by row then costs what it writes, not a copy of the tensor in each
 * iteration.
 */
public interface Increment extends Fused {
  /**
   * Adds to a tensor what this op adds to its first input.
   *
   * @param others the further inputs
   */
  void addTo(Tensor target, List<Tensor> others);

  /** The sum of two values of one shape; with an increment it is an increment of the sum. */
  static Node sum(Node left, Node right) {
    if (isZero(left) || isZero(right)) {
      return isZero(left) ? right : left;
    }
    Node increment = right.op() instanceof Increment ? right : left;
    if (!(increment.op() instanceof Increment)) {
      return left.add(right);
    }
    List<Node> inputs = new ArrayList<>(increment.inputs());
    Node other = increment == right ? left : right;
    inputs.set(0, sum(other, inputs.getFirst()));
    return increment.with(inputs, increment.after());
  }

  private static boolean isZero(Node node) {
    return switch (node.op()) {
      case Primitive.Broadcast _, Primitive.Reshape _ -> isZero(node.input(0));
      case Primitive.Constant constant -> constant.value() == 0;
      default -> false; // It may well be, but nobody can say so before it is computed.
    };
  }
}
