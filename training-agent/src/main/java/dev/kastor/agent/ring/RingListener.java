package dev.kastor.agent.ring;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections from the other replicas for the life of the process.
 *
 * <p>Whoever fails the handshake is dropped and logged; a ring in operation does not notice.
 * Authenticated connections wait here until the ring of their generation asks for them: a neighbour
 * may learn of a generation earlier than we do. Thread-safe.
 */
public final class RingListener implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RingListener.class);
  private static final int MAX_HANDSHAKES = 64;
  private static final int MAX_WAITING = 1024;
  private static final long CHECK_MILLIS = 20;

  private final RingKey key;
  private final RingLimits limits;
  private final ServerSocketChannel server;
  private final Semaphore handshakes = new Semaphore(MAX_HANDSHAKES);
  private final Map<Hello.Key, SocketChannel> waiting = new HashMap<>();
  private long oldestGeneration;
  private boolean closed;

  private RingListener(RingKey key, RingLimits limits, ServerSocketChannel server) {
    this.key = key;
    this.limits = limits;
    this.server = server;
  }

  /** Listens on a free port of {@code address}. */
  public static RingListener open(RingKey key, RingLimits limits, InetAddress address)
      throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(address, 0), 128);
    RingListener listener = new RingListener(key, limits, server);
    Thread.ofVirtual().name("ring-accept").start(listener::acceptAll);
    return listener;
  }

  /** The port it listens on. */
  public int port() {
    return server.socket().getLocalPort();
  }

  RingKey key() {
    return key;
  }

  /** From now on refuses connections of generations below this one and drops those that wait. */
  public void refuseBelow(long generation) {
    synchronized (waiting) {
      oldestGeneration = Math.max(oldestGeneration, generation);
      Iterator<Map.Entry<Hello.Key, SocketChannel>> entries = waiting.entrySet().iterator();
      while (entries.hasNext()) {
        Map.Entry<Hello.Key, SocketChannel> entry = entries.next();
        if (entry.getKey().generation() < oldestGeneration) {
          Sockets.close(entry.getValue());
          entries.remove();
        }
      }
    }
  }

  /**
   * Waits for an authenticated connection.
   *
   * @param abandoned polled while waiting; true ends the wait
   */
  SocketChannel take(Hello.Key connection, Duration limit, BooleanSupplier abandoned)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    synchronized (waiting) {
      while (true) {
        SocketChannel channel = waiting.remove(connection);
        if (channel != null) {
          return channel;
        }
        if (closed) {
          throw new ClosedChannelException();
        }
        if (abandoned.getAsBoolean()) {
          throw new RingBrokenException(
              "generation %d is abandoned".formatted(connection.generation()));
        }
        if (System.nanoTime() - end > 0) {
          throw new RingBrokenException(
              "rank %d did not connect within %s".formatted(connection.from(), limit));
        }
        waiting.wait(CHECK_MILLIS);
      }
    }
  }

  private void acceptAll() {
    while (true) {
      SocketChannel channel;
      try {
        channel = server.accept();
      } catch (ClosedChannelException e) {
        return;
      } catch (IOException e) {
        log.warn("{}: cannot accept ring connections: {}", key.job(), e.toString());
        continue;
      }
      if (!handshakes.tryAcquire()) {
        log.warn(
            "{}: refused a ring connection from {}: {} handshakes are in progress",
            key.job(),
            remote(channel),
            MAX_HANDSHAKES);
        Sockets.close(channel);
        continue;
      }
      Thread.ofVirtual().name("ring-handshake").start(() -> authenticate(channel));
    }
  }

  private void authenticate(SocketChannel channel) {
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      Hello hello = Handshake.accept(channel, key, this::accepts, limits.handshake());
      offer(hello.key(), channel);
    } catch (IOException e) {
      log.warn(
          "{}: refused a ring connection from {}: {}", key.job(), remote(channel), e.getMessage());
      Sockets.close(channel);
    } finally {
      handshakes.release();
    }
  }

  private boolean accepts(long generation) {
    synchronized (waiting) {
      return generation >= oldestGeneration;
    }
  }

  private void offer(Hello.Key connection, SocketChannel channel) throws IOException {
    @Nullable SocketChannel replaced;
    synchronized (waiting) {
      if (closed) {
        throw new IOException("the replica is ending");
      }
      if (connection.generation() < oldestGeneration) {
        throw new IOException("its generation %d is outdated".formatted(connection.generation()));
      }
      if (waiting.size() >= MAX_WAITING && !waiting.containsKey(connection)) {
        throw new IOException("%d connections wait already".formatted(MAX_WAITING));
      }
      replaced = waiting.put(connection, channel);
      waiting.notifyAll();
    }
    if (replaced != null) {
      Sockets.close(replaced);
    }
  }

  private static String remote(SocketChannel channel) {
    try {
      return String.valueOf(channel.getRemoteAddress());
    } catch (IOException e) {
      return "a closed connection";
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    synchronized (waiting) {
      closed = true;
      waiting.values().forEach(Sockets::close);
      waiting.clear();
      waiting.notifyAll();
    }
  }
}
