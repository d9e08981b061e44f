package dev.kastor.engine.backend.cpu;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Where a kernel reads or writes: fixed in the slab, or bound anew between runs. */
final class Place {
  private final long bytes;
  private @Nullable MemorySegment segment;

  /** A place of this size that is not yet bound. */
  Place(long bytes) {
    this.bytes = bytes;
  }

  /** From the next run on it is here. */
  void bind(MemorySegment segment) {
    if (segment.byteSize() < bytes) {
      throw new IllegalArgumentException(
          "%d bytes cannot be bound where %d are needed.".formatted(segment.byteSize(), bytes));
    }
    this.segment = segment;
  }

  boolean isBound() {
    return segment != null;
  }

  long bytes() {
    return bytes;
  }

  /** Where it is in this run. */
  MemorySegment segment() {
    return Objects.requireNonNull(segment, "A place is not bound.");
  }
}
