package dev.kastor.engine.op;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Op;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Shape;
import java.util.Arrays;
import java.util.List;

/** Which row a float means: the nearest; of two as near, the further one. */
final class RowNumber {
  private static final float HALF = 0.5f;

  private RowNumber() {}

  /** The row of so many; -1 if there is no such row. */
  static int of(float number, int rows) {
    double row = Math.floor(number - HALF) + 1;
    return row >= 0 && row < rows ? (int) row : -1;
  }

  /** 1 at the row, else 0: {@code [rows, 1, ..]} of the same rank as a tensor. */
  static Node mask(Node number, Shape of) {
    int rows = of.extent(0);
    Node all = Node.iota(Shape.of(rows), 0);
    Node below = number.add(-HALF);
    Node mask = all.greater(below).subtract(all.add(-1).greater(below));
    int[] extents = new int[of.rank()];
    Arrays.fill(extents, 1);
    extents[0] = rows;
    return mask.reshape(extents);
  }

  /** The type of a row of the first input, whose number is the second. */
  static Type row(Op op, List<Type> inputs) {
    Shape all = inputs.getFirst().shape();
    if (all.rank() == 0
        || !inputs.getFirst().equals(Type.f32(all))
        || !inputs.get(1).equals(Type.f32())) {
      throw new ShapeException(op, "a tensor [rows, ..] and the number of a row", inputs);
    }
    int[] extents = all.extents();
    return Type.f32(Shape.of(Arrays.copyOfRange(extents, 1, extents.length)));
  }
}
