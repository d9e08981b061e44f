package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.op.RowAt;
import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Kernels that place elements. */
final class Movement {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  /** Columns that one thread adds up at least: what a processor fetches from memory at once. */
  private static final int COLUMNS = 16;

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

  /** Of numbers, which are few. */
  static Kernel permute(Primitive.Permute op, Node node, Place in, Place out) {
    int[] dense = node.input(0).shape().strides();
    int[] strides = op.axes().stream().mapToInt(axis -> dense[axis]).toArray();
    int[] own = node.shape().strides();
    int elements = node.shape().elements();
    return () -> {
      for (int i = 0; i < elements; i++) {
        int from = 0;
        for (int axis = 0; axis < own.length; axis++) {
          from += i / own[axis] % node.shape().extent(axis) * strides[axis];
        }
        out.segment().setAtIndex(INT, i, in.segment().getAtIndex(INT, from));
      }
    };
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

  static Kernel rowAt(Node node, Place rows, Place number, Place out) {
    int height = node.input(0).shape().extent(0);
    long bytes = 4L * node.shape().elements();
    return () -> {
      int row = RowAt.number(number.segment().get(FLOAT, 0), height);
      if (row < 0) {
        out.segment().asSlice(0, bytes).fill((byte) 0);
      } else {
        MemorySegment.copy(rows.segment(), row * bytes, out.segment(), 0, bytes);
      }
    };
  }

  /** Threads have columns of their own, so that each sum is made in the order of the rows. */
  static Kernel scatterAdd(Team team, Node node, Place values, Place rows, Place out) {
    int height = node.shape().extent(0);
    int width = node.shape().extent(1);
    int count = node.input(1).shape().elements();
    return team.loop(
        Math.ceilDiv(width, COLUMNS),
        (long) count * width,
        () -> {
          float[] sum = new float[width];
          float[] value = new float[width];
          return (first, last) -> {
            int from = first * COLUMNS;
            int columns = Math.min(width, last * COLUMNS) - from;
            MemorySegment to = out.segment();
            for (int i = 0; i < height; i++) {
              to.asSlice(at(i, width, from), 4L * columns).fill((byte) 0);
            }
            for (int i = 0; i < count; i++) {
              MemorySegment.copy(values.segment(), FLOAT, at(i, width, from), value, 0, columns);
              long row = at(row(rows.segment(), i, height), width, from);
              MemorySegment.copy(to, FLOAT, row, sum, 0, columns);
              for (int j = 0; j < columns; j++) {
                sum[j] += value[j];
              }
              MemorySegment.copy(sum, 0, to, FLOAT, row, columns);
            }
          };
        });
  }

  private static long at(int row, int width, int column) {
    return 4L * ((long) row * width + column);
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
