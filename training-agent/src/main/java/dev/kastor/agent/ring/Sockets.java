package dev.kastor.agent.ring;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Opens authenticated connections to other replicas' listeners. */
final class Sockets {
  private static final long RETRY_MILLIS = 20;

  private Sockets() {}

  /** Connects and authenticates, again and again until it works, time is up or it is abandoned. */
  static Connection connect(
      InetSocketAddress address,
      RingKey key,
      Hello.Key connection,
      RingLimits limits,
      BooleanSupplier abandoned)
      throws IOException {
    long end = System.nanoTime() + limits.connect().toNanos();
    while (true) {
      try {
        return connectOnce(address, key, connection, limits.handshake());
      } catch (IOException e) {
        if (abandoned.getAsBoolean()) {
          throw new RingBrokenException(
              "generation %d is abandoned".formatted(connection.generation()), e);
        }
        if (System.nanoTime() - end > 0) {
          throw new RingBrokenException(
              "rank %d at %s cannot be reached: %s"
                  .formatted(connection.to(), address, e.getMessage()),
              e);
        }
      }
      try {
        Thread.sleep(RETRY_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted while connecting");
      }
    }
  }

  private static Connection connectOnce(
      InetSocketAddress address, RingKey key, Hello.Key connection, Duration limit)
      throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.socket().connect(address, (int) limit.toMillis());
      return Handshake.connect(channel, key, connection, limit);
    } catch (IOException e) {
      close(channel);
      throw e;
    }
  }

  /** Closes what is being given up; a failure to close adds nothing. */
  static void close(Closeable channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // The connection is of no further use to anybody.
    }
  }
}
