package dev.kastor.agent.bench;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/** A connection over which both ends send and receive at once, with nothing else to do. */
final class PlainCopy implements AutoCloseable {
  private static final int BUFFER = 1 << 17;

  private final SocketChannel channel;

  private PlainCopy(SocketChannel channel) throws IOException {
    this.channel = channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  static ServerSocketChannel listen() throws IOException {
    return ServerSocketChannel.open()
        .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  static PlainCopy accept(ServerSocketChannel server) throws IOException {
    return new PlainCopy(server.accept());
  }

  static PlainCopy connect(int port) throws IOException {
    return new PlainCopy(
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
  }

  private void send(long bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
    long left = bytes;
    while (left > 0) {
      buffer.clear().limit((int) Math.min(BUFFER, left));
      while (buffer.hasRemaining()) {
        left -= channel.write(buffer);
      }
    }
  }

  /** Sends and receives so many bytes. */
  void exchange(long bytes) throws IOException {
    FutureTask<@Nullable Void> sending =
        new FutureTask<>(() -> {
          send(bytes);
          return null;
        });
    Thread.ofVirtual().start(sending);
    ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
    long left = bytes;
    while (left > 0) {
      buffer.clear().limit((int) Math.min(BUFFER, left));
      int read = channel.read(buffer);
      if (read < 0) {
        throw new EOFException("the other process has gone");
      }
      left -= read;
    }
    try {
      sending.get();
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
