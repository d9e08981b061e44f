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

  static Kernel iota(Primitive.Iota op, MemorySegment out) {
    int stride = op.shape().strides()[op.axis()];
    int extent = op.shape().extent(op.axis());
    int elements = op.shape().elements();
    return () -> {
      for (int i = 0; i < elements; i++) {
        out.setAtIndex(FLOAT, i, i / stride % extent);
      }
    };
  }

  static Kernel pad(Primitive.Pad op, Node node, MemorySegment in, MemorySegment out) {
    Shape from = node.input(0).shape();
    long run = 4L * from.elements(op.axis(), from.rank());
    long wide = 4L * node.shape().elements(op.axis(), from.rank());
    long lead = 4L * op.before() * from.elements(op.axis() + 1, from.rank());
    int count = from.elements(0, op.axis());
    long bytes = wide * count;
    return () -> {
      out.asSlice(0, bytes).fill((byte) 0);
      for (int i = 0; i < count; i++) {
        MemorySegment.copy(in, i * run, out, i * wide + lead, run);
      }
    };
  }

  static Kernel gather(Node node, MemorySegment table, MemorySegment rows, MemorySegment out) {
    int height = node.input(0).shape().extent(0);
    int count = node.input(1).shape().elements();
    long bytes = 4L * node.shape().extent(-1);
    return () -> {
      for (int i = 0; i < count; i++) {
        int row = row(rows, i, height);
        MemorySegment.copy(table, row * bytes, out, i * bytes, bytes);
      }
    };
  }

  static Kernel scatterAdd(Node node, MemorySegment values, MemorySegment rows, MemorySegment out) {
    int height = node.shape().extent(0);
    int width = node.shape().extent(1);
    int count = node.input(1).shape().elements();
    float[] sums = new float[height * width];
    float[] value = new float[width];
    return () -> {
      Arrays.fill(sums, 0);
      for (int i = 0; i < count; i++) {
        MemorySegment.copy(values, FLOAT, 4L * i * width, value, 0, width);
        int first = row(rows, i, height) * width;
        for (int j = 0; j < width; j++) {
          sums[first + j] += value[j];
        }
      }
      MemorySegment.copy(sums, 0, out, FLOAT, 0, sums.length);
    };
  }

  static Kernel oneHot(Node node, MemorySegment classes, MemorySegment out) {
    int depth = node.shape().extent(-1);
    int count = node.input(0).shape().elements();
    return () -> {
      out.asSlice(0, 4L * count * depth).fill((byte) 0);
      for (int i = 0; i < count; i++) {
        out.setAtIndex(FLOAT, (long) i * depth + row(classes, i, depth), 1);
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
