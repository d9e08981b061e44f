package dev.kastor.engine.tensor;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;

/**
 * A dense row-major array outside the heap.
 *
 * <p>Lives as long as the arena of its segment. Not synchronised.
 *
 * @param segment at least {@code shape.elements()} elements, aligned to {@link #ALIGNMENT} bytes
 */
public record Tensor(MemorySegment segment, Shape shape, DType dtype) {
  /** Bytes: a cache line, and the widest vector register. */
  public static final int ALIGNMENT = 64;

  public Tensor {
    if (segment.byteSize() < (long) shape.elements() * dtype.bytes()) {
      throw new IllegalArgumentException(
          "A segment of %d bytes is too small for shape %s of %s."
              .formatted(segment.byteSize(), shape, dtype));
    }
  }

  /** A tensor in memory from this allocator: of zeros, if that gives zeros as an arena does. */
  public static Tensor allocate(SegmentAllocator memory, Shape shape, DType dtype) {
    long bytes = (long) shape.elements() * dtype.bytes();
    return new Tensor(memory.allocate(bytes, ALIGNMENT), shape, dtype);
  }

  /** Copies {@code elements()} values from an array into this tensor. */
  public void write(float[] source, int offset) {
    require(DType.F32);
    MemorySegment.copy(source, offset, segment, ValueLayout.JAVA_FLOAT, 0, shape.elements());
  }

  /** Copies {@code elements()} values from an array into this tensor. */
  public void write(int[] source, int offset) {
    require(DType.I32);
    MemorySegment.copy(source, offset, segment, ValueLayout.JAVA_INT, 0, shape.elements());
  }

  /** Copies this tensor's values into an array. */
  public void read(float[] target, int offset) {
    require(DType.F32);
    MemorySegment.copy(segment, ValueLayout.JAVA_FLOAT, 0, target, offset, shape.elements());
  }

  /** This tensor's values in a new array. */
  public float[] floats() {
    float[] values = new float[shape.elements()];
    read(values, 0);
    return values;
  }

  /** The value at a flat index. */
  public float get(long index) {
    return segment.getAtIndex(ValueLayout.JAVA_FLOAT, index);
  }

  private void require(DType wanted) {
    if (dtype != wanted) {
      throw new IllegalArgumentException(
          "Tensor of shape %s holds %s, not %s.".formatted(shape, dtype, wanted));
    }
  }
}
