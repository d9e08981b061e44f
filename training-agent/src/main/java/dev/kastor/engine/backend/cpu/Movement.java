package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Kernels that place elements. */
final class Movement {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private Movement() {}

  static Kernel iota(Primitive.Iota op, Place out) {
    int stride = op.shape().strides()[op.axis()];
    int extent = op.shape().extent(op.axis());
    int elements = op.shape().elements();
    return () -> {
      MemorySegment to = out.segment();
      for (int i = 0; i < elements; i++) {
        to.setAtIndex(FLOAT, i, i / stride % extent);
      }
    };
  }

  /** Of whatever takes four bytes an element. */
  static Kernel slice(Team team, Primitive.Slice op, Node node, Place in, Place out) {
    Shape from = node.input(0).shape();
    long run = 4L * node.shape().elements(op.axis(), from.rank());
    long wide = 4L * from.elements(op.axis(), from.rank());
    long lead = 4L * op.from() * from.elements(op.axis() + 1, from.rank());
    return team.loop(
        from.elements(0, op.axis()),
        node.shape().elements(),
        () ->
            (first, last) -> {
              for (int i = first; i < last; i++) {
                MemorySegment.copy(in.segment(), i * wide + lead, out.segment(), i * run, run);
              }
            });
  }

  static Kernel pad(Team team, Primitive.Pad op, Node node, Place in, Place out) {
    Shape from = node.input(0).shape();
    long run = 4L * from.elements(op.axis(), from.rank());
    long wide = 4L * node.shape().elements(op.axis(), from.rank());
    long lead = 4L * op.before() * from.elements(op.axis() + 1, from.rank());
    int count = from.elements(0, op.axis());
    return team.loop(
        count,
        node.shape().elements(),
        () ->
            (first, last) -> {
              MemorySegment target = out.segment();
              target.asSlice(first * wide, (last - first) * wide).fill((byte) 0);
              for (int i = first; i < last; i++) {
                MemorySegment.copy(in.segment(), i * run, target, i * wide + lead, run);
              }
            });
  }

  static Kernel gather(Team team, Node node, Place table, Place rows, Place out) {
    int height = node.input(0).shape().extent(0);
    int count = node.input(1).shape().elements();
    long bytes = 4L * node.shape().extent(-1);
    return team.loop(
        count,
        node.shape().elements(),
        () ->
            (first, last) -> {
              for (int i = first; i < last; i++) {
                int row = row(rows.segment(), i, height);
                MemorySegment.copy(table.segment(), row * bytes, out.segment(), i * bytes, bytes);
              }
            });
  }

  static Kernel scatterAdd(Node node, Place values, Place rows, Place out) {
    int height = node.shape().extent(0);
    int width = node.shape().extent(1);
    int count = node.input(1).shape().elements();
    float[] sums = new float[height * width];
    float[] value = new float[width];
    return () -> {
      Arrays.fill(sums, 0);
      for (int i = 0; i < count; i++) {
        MemorySegment.copy(values.segment(), FLOAT, 4L * i * width, value, 0, width);
        int first = row(rows.segment(), i, height) * width;
        for (int j = 0; j < width; j++) {
          sums[first + j] += value[j];
        }
      }
      MemorySegment.copy(sums, 0, out.segment(), FLOAT, 0, sums.length);
    };
  }

  static Kernel oneHot(Node node, Place classes, Place out) {
    int depth = node.shape().extent(-1);
    int count = node.input(0).shape().elements();
    return () -> {
      MemorySegment to = out.segment();
      to.asSlice(0, 4L * count * depth).fill((byte) 0);
      for (int i = 0; i < count; i++) {
        to.setAtIndex(FLOAT, (long) i * depth + row(classes.segment(), i, depth), 1);
      }
    };
  }

  /** Row numbers are data: one out of range must not reach other memory of the slab. */
  static int row(MemorySegment rows, int index, int height) {
    int row = rows.getAtIndex(INT, index);
    if (row < 0 || row >= height) {
      throw new IndexOutOfBoundsException(
          "Row number %d at %d is outside [0, %d).".formatted(row, index, height));
    }
    return row;
  }
}
