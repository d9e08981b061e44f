package dev.kastor.agent.ring;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reader of frames from the left neighbour or a sender of a state; checks type and length of each.
 */
final class FrameReader {
  private static final long NOT_WAITING = Long.MIN_VALUE;

  private final SocketChannel channel;
  private final @Nullable Seal seal;
  private final int tagBytes;
  private final ByteBuffer buffer;
  private final byte[] opened;
  private final LongSupplier nanoTime;
  private volatile long waitingSinceNanos = NOT_WAITING;

  FrameReader(Connection connection) {
    this(connection, System::nanoTime);
  }

  /** A reader with a clock of its own, in the terms of {@link System#nanoTime}. */
  FrameReader(Connection connection, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    channel = connection.channel();
    seal = connection.seal();
    tagBytes = seal == null ? 0 : Seal.TAG_BYTES;
    int bytes = 2 * (Frame.HEADER_BYTES + Frame.MAX_PAYLOAD + tagBytes);
    buffer =
        (seal == null ? ByteBuffer.allocateDirect(bytes) : ByteBuffer.allocate(bytes))
            .order(ByteOrder.LITTLE_ENDIAN)
            .limit(0);
    opened = new byte[seal == null ? 0 : Frame.MAX_PAYLOAD];
  }

  /** Reads the next {@code length} floats of an all-reduce into {@code target}. */
  void chunk(float[] target, int offset, int length) throws IOException {
    int bytes = length * Float.BYTES;
    payload(Frame.Type.CHUNK, bytes, bytes).asFloatBuffer().get(target, offset, length);
  }

  byte[] gather(int maxBytes) throws IOException {
    ByteBuffer payload = payload(Frame.Type.GATHER, 0, maxBytes);
    byte[] bytes = new byte[payload.remaining()];
    payload.get(bytes);
    return bytes;
  }

  /** Reads the next {@code length} bytes of an all-gather into {@code target}. */
  void gather(byte[] target, int offset, int length) throws IOException {
    payload(Frame.Type.GATHER, length, length).get(target, offset, length);
  }

  /** Fills what is left of {@code target} with the next bytes of a training state. */
  void state(ByteBuffer target) throws IOException {
    target.put(payload(Frame.Type.STATE, target.remaining(), target.remaining()));
  }

  /** Nanoseconds for which a read has waited without getting a byte; 0 while none waits. */
  long silentNanos() {
    long since = waitingSinceNanos;
    return since == NOT_WAITING ? 0 : nanoTime.getAsLong() - since;
  }

  /** The payload of the next frame; good until the next is asked for. */
  private ByteBuffer payload(Frame.Type expected, int minBytes, int maxBytes) throws IOException {
    while (true) {
      require(Frame.HEADER_BYTES);
      int type = buffer.getInt(buffer.position());
      int bytes = buffer.getInt(buffer.position() + Integer.BYTES);
      boolean ping = type == Frame.Type.PING.code() && bytes == 0;
      if (!ping && (type != expected.code() || bytes < minBytes || bytes > maxBytes)) {
        throw new RingBrokenException(
            "expected a %s frame of %d to %d bytes but got one of type %d and %d bytes"
                .formatted(expected, minBytes, maxBytes, type, bytes));
      }
      require(Frame.HEADER_BYTES + bytes + tagBytes);
      ByteBuffer payload = opened(bytes);
      buffer.position(buffer.position() + Frame.HEADER_BYTES + bytes + tagBytes);
      if (!ping) {
        return payload;
      }
    }
  }

  /** The payload of the frame that the buffer begins with. */
  private ByteBuffer opened(int bytes) throws IOException {
    int from = buffer.position();
    ByteBuffer payload;
    if (seal == null) {
      payload = buffer.slice(from + Frame.HEADER_BYTES, bytes);
    } else {
      seal.open(buffer.array(), from, bytes, opened);
      payload = ByteBuffer.wrap(opened, 0, bytes);
    }
    return payload.order(ByteOrder.LITTLE_ENDIAN);
  }

  private void require(int bytes) throws IOException {
    if (buffer.remaining() >= bytes) {
      return;
    }
    buffer.compact();
    try {
      while (buffer.position() < bytes) {
        waitingSinceNanos = nanoTime.getAsLong();
        if (channel.read(buffer) < 0) {
          throw new EOFException("the sender closed the connection");
        }
      }
    } finally {
      waitingSinceNanos = NOT_WAITING;
      buffer.flip();
    }
  }
}
