package dev.kastor.engine.export;

import dev.kastor.engine.tensor.Shape;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A tensor by name, as a part of a flat array, which is not copied.
 *
 * @param from the first of its elements in the array
 */
@SuppressWarnings("ArrayRecordComponent") // a view of trained values, never compared
public record NamedTensor(String name, Shape shape, float[] values, int from) {
  private static final int PIECE = 1 << 14;

  public NamedTensor {
    if (from < 0 || from > values.length - shape.elements()) {
      throw new IllegalArgumentException(
          "%s has %d elements from %d on, and there are %d"
              .formatted(name, shape.elements(), from, values.length));
    }
  }

  /** Bytes that {@link #write} writes. */
  public long bytes() {
    return (long) Float.BYTES * shape.elements();
  }

  /** Writes the elements as little-endian 32-bit floats, the last axis first. */
  void write(OutputStream out) throws IOException {
    ByteBuffer piece = ByteBuffer.allocate(PIECE * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    int end = from + shape.elements();
    for (int at = from; at < end; at += PIECE) {
      int count = Math.min(PIECE, end - at);
      piece.clear().asFloatBuffer().put(values, at, count);
      out.write(piece.array(), 0, count * Float.BYTES);
    }
  }
}
