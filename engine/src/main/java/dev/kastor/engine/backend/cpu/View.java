package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Floats in memory under a shape with arbitrary strides, read in row-major order of the shape. */
final class View {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private final Place place;
  private final int offset;
  // Neighbouring axes that one stride can walk are merged; the last is the inner run.
  private final int[] extents;
  private final int[] strides;

  private View(Place place, int offset, int[] extents, int[] strides) {
    this.place = place;
    this.offset = offset;
    this.extents = extents;
    this.strides = strides;
  }

  static View dense(Place place, Shape shape) {
    return new View(place, 0, new int[] {shape.elements()}, new int[] {1});
  }

  static View strided(Place place, int offset, Shape shape, int[] strides) {
    int[] extents = new int[shape.rank() + 1];
    int[] steps = new int[shape.rank() + 1];
    int count = 0;
    for (int axis = 0; axis < shape.rank(); axis++) {
      int extent = shape.extent(axis);
      if (extent == 1) {
        continue;
      }
      if (count > 0 && steps[count - 1] == strides[axis] * extent) {
        extents[count - 1] *= extent;
        steps[count - 1] = strides[axis];
      } else {
        extents[count] = extent;
        steps[count++] = strides[axis];
      }
    }
    if (count == 0) {
      extents[count++] = 1;
    }
    return new View(place, offset, Arrays.copyOf(extents, count), Arrays.copyOf(steps, count));
  }

  /** The length after which the values repeat, or 0 if they do not. */
  int period() {
    int last = extents.length - 1;
    return last == 1 && strides[0] == 0 && strides[1] == 1 ? extents[1] : 0;
  }

  /** Reads elements {@code [start, start + length)} to the front of a block. */
  void load(float[] block, int start, int length) {
    int inner = extents[extents.length - 1];
    int done = 0;
    while (done < length) {
      int position = start + done;
      int within = position % inner;
      int run = Math.min(inner - within, length - done);
      copy(block, done, address(position / inner), within, run);
      done += run;
    }
  }

  private int address(int outer) {
    int address = offset;
    int rest = outer;
    for (int axis = extents.length - 2; axis >= 0; axis--) {
      address += rest % extents[axis] * strides[axis];
      rest /= extents[axis];
    }
    return address;
  }

  private void copy(float[] block, int to, int base, int within, int run) {
    int step = strides[extents.length - 1];
    long from = 4L * (base + within * step);
    MemorySegment segment = place.segment();
    switch (step) {
      case 0 -> Arrays.fill(block, to, to + run, segment.get(FLOAT, from));
      case 1 -> MemorySegment.copy(segment, FLOAT, from, block, to, run);
      default -> {
        for (int i = 0; i < run; i++) {
          block[to + i] = segment.get(FLOAT, from + 4L * i * step);
        }
      }
    }
  }
}
