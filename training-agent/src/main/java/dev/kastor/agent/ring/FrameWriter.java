package dev.kastor.agent.ring;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;

/** Writes frames to the right neighbour; pings may come from another thread. */
final class FrameWriter {
  private final SocketChannel channel;
  private final ReentrantLock lock = new ReentrantLock();
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(Frame.HEADER_BYTES + Frame.MAX_PAYLOAD)
          .order(ByteOrder.LITTLE_ENDIAN);
  private volatile long lastWriteNanos = System.nanoTime();

  FrameWriter(SocketChannel channel) {
    this.channel = channel;
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
    lock.lock();
    try {
      buffer.clear().putInt(Frame.Type.GATHER.code()).putInt(payload.length).put(payload);
      flush();
    } finally {
      lock.unlock();
    }
  }

  /** Says that we live unless something was written within {@code idleNanos}. */
  void pingIfIdle(long idleNanos) throws IOException {
    if (System.nanoTime() - lastWriteNanos < idleNanos || !lock.tryLock()) {
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
    buffer.flip();
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
    lastWriteNanos = System.nanoTime();
  }
}
