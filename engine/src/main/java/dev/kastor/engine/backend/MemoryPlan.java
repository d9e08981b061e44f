package dev.kastor.engine.backend;

import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Places buffers in one slab such that those alive at the same step do not overlap: the largest
 * first, each at the lowest place that is free for its whole life.
 */
public final class MemoryPlan {
  /** A stretch of the slab, alive from the step that writes it to the last that reads it. */
  public static final class Buffer {
    private final long bytes;
    private int first;
    private int last;
    private long offset = -1;

    private Buffer(long bytes, int step) {
      this.bytes = (bytes + Tensor.ALIGNMENT - 1) / Tensor.ALIGNMENT * Tensor.ALIGNMENT;
      this.first = step;
      this.last = step;
    }

    /** Somebody reads it at a step. */
    public void usedAt(int step) {
      last = Math.max(last, step);
    }

    /** Never shares its place. */
    public void keep() {
      first = -1;
      last = Integer.MAX_VALUE;
    }

    /** Where it begins in the slab, in bytes, once it is placed. */
    public long offset() {
      return offset;
    }

    /** Its stretch of the slab, once it is placed. */
    public MemorySegment in(MemorySegment slab) {
      return slab.asSlice(offset, bytes);
    }

    private boolean meets(Buffer other) {
      return first <= other.last && other.first <= last;
    }
  }

  private final List<Buffer> buffers = new ArrayList<>();

  /** A buffer that is written at a step. */
  public Buffer buffer(long bytes, int step) {
    Buffer buffer = new Buffer(bytes, step);
    buffers.add(buffer);
    return buffer;
  }

  /** Bytes of the buffers that are alive at a step. */
  public long aliveAt(int step) {
    return buffers.stream()
        .filter(buffer -> buffer.first <= step && step <= buffer.last)
        .mapToLong(buffer -> buffer.bytes)
        .sum();
  }

  /** Places every buffer and returns the bytes of the slab. */
  public long place() {
    List<Buffer> placed = new ArrayList<>();
    long size = 0;
    for (Buffer buffer :
        buffers.stream().sorted(Comparator.comparingLong((Buffer b) -> -b.bytes)).toList()) {
      long offset = 0;
      for (Buffer other : placed) {
        if (other.meets(buffer)
            && other.offset < offset + buffer.bytes
            && offset < other.offset + other.bytes) {
          offset = other.offset + other.bytes;
        }
      }
      buffer.offset = offset;
      size = Math.max(size, offset + buffer.bytes);
      placed.add(buffer);
      placed.sort(Comparator.comparingLong((Buffer b) -> b.offset));
    }
    return size;
  }
}
