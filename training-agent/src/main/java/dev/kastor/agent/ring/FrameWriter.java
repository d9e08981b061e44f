package dev.kastor.agent.ring;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writer of frames to the right neighbour or to a receiver of a state; pings may come from another
 * thread.
 */
final class FrameWriter {
  private final SocketChannel channel;
  private final @Nullable Seal seal;
  private final ReentrantLock lock = new ReentrantLock();
  private final ByteBuffer buffer;
  private final LongSupplier nanoTime;
  private volatile long lastWriteNanos;

  FrameWriter(Connection connection) {
    this(connection, System::nanoTime);
  }

  /** A writer with a clock of its own, in the terms of {@link System#nanoTime}. */
  FrameWriter(Connection connection, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    lastWriteNanos = nanoTime.getAsLong();
    channel = connection.channel();
    seal = connection.seal();
    int bytes = Frame.HEADER_BYTES + Frame.MAX_PAYLOAD;
    // Ciphers are fastest on arrays.
    buffer =
        (seal == null
                ? ByteBuffer.allocateDirect(bytes)
                : ByteBuffer.allocate(bytes + Seal.TAG_BYTES))
            .order(ByteOrder.LITTLE_ENDIAN);
  }

  void chunk(float[] data, int offset, int length) throws IOException {
    lock.lock();
    try {
      int bytes = length * Float.BYTES;
      buffer.clear().putInt(Frame.Type.CHUNK.code()).putInt(bytes);
      buffer.asFloatBuffer().put(data, offset, length);
      buffer.position(Frame.HEADER_BYTES + bytes);
      flush();
    } finally {
      lock.unlock();
    }
  }

  void gather(byte[] payload) throws IOException {
    gather(payload, 0, payload.length);
  }

  /** Writes bytes of an all-gather, at most {@link Frame#MAX_PAYLOAD}. */
  void gather(byte[] data, int offset, int length) throws IOException {
    lock.lock();
    try {
      buffer.clear().putInt(Frame.Type.GATHER.code()).putInt(length).put(data, offset, length);
      flush();
    } finally {
      lock.unlock();
    }
  }

  /** Writes bytes of a training state, at most {@link Frame#MAX_PAYLOAD}. */
  void state(ByteBuffer payload) throws IOException {
    lock.lock();
    try {
      buffer.clear().putInt(Frame.Type.STATE.code()).putInt(payload.remaining()).put(payload);
      flush();
    } finally {
      lock.unlock();
    }
  }

  /** Says that we live unless something was written within {@code idleNanos}. */
  void pingIfIdle(long idleNanos) throws IOException {
    if (nanoTime.getAsLong() - lastWriteNanos < idleNanos || !lock.tryLock()) {
      return;
    }
    try {
      buffer.clear().putInt(Frame.Type.PING.code()).putInt(0);
      flush();
    } finally {
      lock.unlock();
    }
  }

  private void flush() throws IOException {
    if (seal != null) {
      buffer.position(seal.seal(buffer.array(), buffer.position() - Frame.HEADER_BYTES));
    }
    buffer.flip();
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
    lastWriteNanos = nanoTime.getAsLong();
  }
}
