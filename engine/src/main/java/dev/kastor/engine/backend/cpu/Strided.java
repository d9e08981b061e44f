package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Shape;
import java.util.Arrays;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A slice, permutation or reshape of a buffer, read where it lies.
 *
 * @param base the node that has the buffer
 * @param offset of its first element, in elements
 * @param extents of its axes
 * @param strides of its axes, in elements
 */
@SuppressWarnings("ArrayRecordComponent") // described to a kernel, never compared
record Strided(Node base, int offset, int[] extents, int[] strides) {
  /**
   * How a node lies in the buffer of another.
   *
   * @param through whether a slice or permutation has no buffer of its own
   * @return null where one stride for each axis does not tell
   */
  static @Nullable Strided of(Node node, Predicate<Node> through) {
    if (node.op() instanceof Primitive.Reshape) {
      Strided inner = of(node.input(0), through);
      return inner == null ? null : inner.reshaped(node.shape());
    }
    boolean looks = node.op() instanceof Primitive.Slice || node.op() instanceof Primitive.Permute;
    if (!looks || !through.test(node)) {
      return new Strided(node, 0, node.shape().extents(), node.shape().strides());
    }
    Strided inner = of(node.input(0), through);
    if (inner == null) {
      return null;
    }
    if (node.op() instanceof Primitive.Slice slice) {
      int start = inner.offset + slice.from() * inner.strides[slice.axis()];
      return new Strided(inner.base, start, node.shape().extents(), inner.strides);
    }
    var permute = (Primitive.Permute) node.op();
    int[] strides = new int[inner.strides.length];
    for (int axis = 0; axis < strides.length; axis++) {
      strides[axis] = inner.strides[permute.axes().get(axis)];
    }
    return new Strided(inner.base, inner.offset, node.shape().extents(), strides);
  }

  /** The same elements under other extents; null where that needs more strides than axes. */
  private @Nullable Strided reshaped(Shape shape) {
    int[] to = shape.extents();
    int[] steps = new int[to.length];
    int from = 0;
    int axis = 0;
    while (axis < to.length) {
      // The fewest axes on both sides that hold the same elements.
      int first = axis;
      long wanted = to[axis++];
      int begun = from;
      long there = from < extents.length ? extents[from++] : 1;
      while (wanted != there) {
        if (wanted < there) {
          wanted *= to[axis++];
        } else {
          there *= extents[from++];
        }
      }
      for (int i = begun + 1; i < from; i++) {
        if (strides[i - 1] != strides[i] * extents[i]) {
          return null;
        }
      }
      int step = from > begun ? strides[from - 1] : 1;
      for (int i = axis - 1; i >= first; i--) {
        steps[i] = step;
        step *= to[i];
      }
    }
    return new Strided(base, offset, to, steps);
  }

  /** Whether its elements follow each other as in a buffer of its own. */
  boolean dense() {
    return offset == 0 && Arrays.equals(strides, Shape.of(extents).strides());
  }

  /** Whether a product can read it at full speed: rows or columns of one piece, not repeated. */
  boolean readable() {
    int last = extents.length - 1;
    return last >= 1
        && ((strides[last] == 1 && strides[last - 1] >= extents[last])
            || (strides[last - 1] == 1 && strides[last] >= extents[last - 1]));
  }
}
