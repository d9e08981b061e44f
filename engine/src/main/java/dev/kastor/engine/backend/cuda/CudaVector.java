package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kastor.engine.backend.DeviceVector;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A vector in the memory of a GPU, and memory of the host that its copies pass through. */
final class CudaVector implements DeviceVector {
  /** Elements of a row at least: sums of rows are then as long as a block of threads needs. */
  private static final int WIDTH = 1024;

  /** Rows at most, so that one number for each is little to copy. */
  private static final int MOST_ROWS = 4096;

  private static final int GRAIN = Tensor.ALIGNMENT / Float.BYTES;

  private final Gpu gpu;
  private final Layout layout;
  private final long[] offsets;
  private final Shape shape;
  private final long address;
  private final Arena arena = Arena.ofShared();
  private @Nullable MemorySegment staging;

  /** Stretch of a GPU's memory. */
  record Place(long address, Shape shape) implements DeviceVector.Place {
    long end() {
      return address + (long) shape.elements() * Float.BYTES;
    }
  }

  private CudaVector(Gpu gpu, Layout layout, long[] offsets, Shape shape) {
    this.gpu = gpu;
    this.layout = layout;
    this.offsets = offsets;
    this.shape = shape;
    this.address = allocated();
    try (Arena zeros = Arena.ofShared()) {
      // What lies between tensors takes part in updates and sums.
      copyIn(zeros.allocate(bytes(), Tensor.ALIGNMENT));
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /**
   * A vector of zeros; empty if there is nothing in it, or more than kernels can count.
   *
   * @throws OutOfGpuMemoryException if it does not fit
   */
  static Optional<DeviceVector> of(Gpu gpu, Layout layout) {
    List<Layout.Entry> entries = layout.entries();
    long[] offsets = new long[entries.size()];
    long end = 0;
    for (int i = 0; i < offsets.length; i++) {
      offsets[i] = end;
      end += Math.ceilDiv((long) entries.get(i).shape().elements(), GRAIN) * GRAIN;
    }
    long width = Math.max(WIDTH, Math.ceilDiv(Math.ceilDiv(end, MOST_ROWS), GRAIN) * (long) GRAIN);
    long rows = Math.ceilDiv(end, width);
    return end == 0 || rows * width > Integer.MAX_VALUE
        ? Optional.empty()
        : Optional.of(new CudaVector(gpu, layout, offsets, Shape.of((int) rows, (int) width)));
  }

  private long allocated() {
    try {
      return gpu.allocate(bytes());
    } catch (OutOfGpuMemoryException e) {
      throw new OutOfGpuMemoryException(
          "A vector of %d parameters does not fit: %s"
              .formatted(layout.elements(), e.getMessage()));
    }
  }

  private long bytes() {
    return (long) shape.elements() * Float.BYTES;
  }

  private MemorySegment staging() {
    MemorySegment segment = staging;
    if (segment == null) {
      segment = arena.allocate(bytes(), Tensor.ALIGNMENT);
      staging = segment;
    }
    return segment;
  }

  @Override
  public Layout layout() {
    return layout;
  }

  @Override
  public Place tensor(int entry) {
    return new Place(address + offsets[entry] * Float.BYTES, layout.entries().get(entry).shape());
  }

  @Override
  public Place whole() {
    return new Place(address, shape);
  }

  @Override
  public void write(float[] values) {
    requireLength(values);
    MemorySegment to = staging();
    for (int i = 0; i < offsets.length; i++) {
      Layout.Entry entry = layout.entries().get(i);
      MemorySegment.copy(
          values,
          entry.offset(),
          to,
          JAVA_FLOAT,
          offsets[i] * Float.BYTES,
          entry.shape().elements());
    }
    copyIn(to);
  }

  private void copyIn(MemorySegment from) {
    gpu.copyIn(address, from);
    gpu.await();
  }

  @Override
  public void read(float[] values) {
    requireLength(values);
    MemorySegment from = staging();
    try (Gpu.Event now = gpu.event()) {
      now.record();
      gpu.copyOut(from, address, now);
      gpu.awaitCopies();
    }
    for (int i = 0; i < offsets.length; i++) {
      Layout.Entry entry = layout.entries().get(i);
      MemorySegment.copy(
          from,
          JAVA_FLOAT,
          offsets[i] * Float.BYTES,
          values,
          entry.offset(),
          entry.shape().elements());
    }
  }

  private void requireLength(float[] values) {
    if (values.length != layout.elements()) {
      throw new IllegalArgumentException(
          "%d values for a vector of %d".formatted(values.length, layout.elements()));
    }
  }

  @Override
  public void close() {
    gpu.free(address);
    arena.close();
  }
}
