package dev.kastor.agent.ring;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;

/** Reads frames from the left neighbour and checks type and length of each. */
final class FrameReader {
  private static final long NOT_WAITING = Long.MIN_VALUE;

  private final SocketChannel channel;
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(2 * (Frame.HEADER_BYTES + Frame.MAX_PAYLOAD))
          .order(ByteOrder.LITTLE_ENDIAN)
          .limit(0);
  private volatile long waitingSinceNanos = NOT_WAITING;

  FrameReader(SocketChannel channel) {
    this.channel = channel;
  }

  /** Reads the next {@code length} floats of an all-reduce into {@code target}. */
  void chunk(float[] target, int offset, int length) throws IOException {
    int bytes = payload(Frame.Type.CHUNK, length * Float.BYTES, length * Float.BYTES);
    require(bytes);
    buffer.asFloatBuffer().get(target, offset, length);
    buffer.position(buffer.position() + bytes);
  }

  byte[] gather(int maxBytes) throws IOException {
    int bytes = payload(Frame.Type.GATHER, 0, maxBytes);
    require(bytes);
    byte[] payload = new byte[bytes];
    buffer.get(payload);
    return payload;
  }

  /** Nanoseconds for which a read has waited without getting a byte; 0 while none waits. */
  long silentNanos() {
    long since = waitingSinceNanos;
    return since == NOT_WAITING ? 0 : System.nanoTime() - since;
  }

  private int payload(Frame.Type expected, int minBytes, int maxBytes) throws IOException {
    while (true) {
      require(Frame.HEADER_BYTES);
      int type = buffer.getInt();
      int bytes = buffer.getInt();
      if (type == Frame.Type.PING.code() && bytes == 0) {
        continue;
      }
      if (type != expected.code() || bytes < minBytes || bytes > maxBytes) {
        throw new RingBrokenException(
            "expected a %s frame of %d to %d bytes but got one of type %d and %d bytes"
                .formatted(expected, minBytes, maxBytes, type, bytes));
      }
      return bytes;
    }
  }

  private void require(int bytes) throws IOException {
    if (buffer.remaining() >= bytes) {
      return;
    }
    buffer.compact();
    try {
      while (buffer.position() < bytes) {
        waitingSinceNanos = System.nanoTime();
        if (channel.read(buffer) < 0) {
          throw new EOFException("the left neighbour closed the connection");
        }
      }
    } finally {
      waitingSinceNanos = NOT_WAITING;
      buffer.flip();
    }
  }
}
