package dev.kastor.agent.ring;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections from the other replicas for the life of the process.
 *
 * <p>Whoever fails the handshake is dropped and counted; a ring in operation does not notice.
 * Strangers cannot keep members out ({@link Admission}) nor fill the log ({@link Refusals}).
 * Authenticated connections wait here until the ring of their generation asks for them: a neighbour
 * may learn of a generation earlier than we do. Thread-safe.
 */
public final class RingListener implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RingListener.class);
  private static final int BACKLOG = 1024;
  private static final int MAX_WAITING = 1024;
  private static final long CHECK_MILLIS = 20;

  private final RingKey key;
  private final RingLimits limits;
  private final ServerSocketChannel server;
  private final Admission admission = new Admission();
  private final Refusals refusals;
  private final Map<Hello.Key, Connection> waiting = new HashMap<>();
  private long oldestGeneration;
  private boolean closed;

  private RingListener(RingKey key, RingLimits limits, ServerSocketChannel server) {
    this.key = key;
    this.limits = limits;
    this.server = server;
    this.refusals = new Refusals(System::nanoTime, line -> log.warn("{}: {}", key.job(), line));
  }

  /** Listens on a free port of {@code address}. */
  public static RingListener open(RingKey key, RingLimits limits, InetAddress address)
      throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(address, 0), BACKLOG);
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

  /** From now on these addresses have places of their own for their handshakes. */
  public void expect(List<InetSocketAddress> members) {
    admission.expect(
        members.stream()
            .map(InetSocketAddress::getAddress)
            .filter(Objects::nonNull)
            .collect(Collectors.toSet()));
  }

  /** From now on refuses connections of generations below this one and drops those that wait. */
  public void refuseBelow(long generation) {
    synchronized (waiting) {
      oldestGeneration = Math.max(oldestGeneration, generation);
      Iterator<Map.Entry<Hello.Key, Connection>> entries = waiting.entrySet().iterator();
      while (entries.hasNext()) {
        Map.Entry<Hello.Key, Connection> entry = entries.next();
        if (entry.getKey().generation() < oldestGeneration) {
          entry.getValue().close();
          entries.remove();
        }
      }
    }
  }

  /** Drops a connection that waits. */
  void discard(Hello.Key connection) {
    @Nullable Connection dropped;
    synchronized (waiting) {
      dropped = waiting.remove(connection);
    }
    if (dropped != null) {
      dropped.close();
    }
  }

  /**
   * Waits for an authenticated connection.
   *
   * @param abandoned polled while waiting; true ends the wait
   */
  Connection take(Hello.Key connection, Duration limit, BooleanSupplier abandoned)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    synchronized (waiting) {
      while (true) {
        Connection accepted = waiting.remove(connection);
        if (accepted != null) {
          return accepted;
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
    try {
      while (true) {
        try {
          SocketChannel channel = server.accept();
          Thread.ofVirtual().name("ring-handshake").start(() -> receive(channel));
        } catch (ClosedChannelException e) {
          return;
        } catch (IOException e) {
          // For instance too many open files, which will be so for a while.
          refusals.add("an unknown address", "it cannot be accepted: " + e.getMessage());
          Thread.sleep(CHECK_MILLIS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void receive(SocketChannel channel) {
    SocketAddress from = channel.socket().getRemoteSocketAddress();
    if (!(from instanceof InetSocketAddress address)) {
      Sockets.close(channel);
      return;
    }
    try {
      authenticate(channel, address.getAddress());
      return;
    } catch (IOException e) {
      refusals.add(from.toString(), String.valueOf(e.getMessage()));
    }
    admission.closeAfter(limits.hello(), channel, address.getAddress());
  }

  private void authenticate(SocketChannel channel, InetAddress from) throws IOException {
    try (Admission.Place place = admission.admit(channel, from)) {
      if (place == null) {
        throw new IOException("enough handshakes are in progress for its address");
      }
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      Handshake.accept(channel, key, this::accepts, limits, this::offer);
    }
  }

  private boolean accepts(long generation) {
    synchronized (waiting) {
      return generation >= oldestGeneration;
    }
  }

  private void offer(Hello.Key connection, Connection accepted) throws IOException {
    @Nullable Connection replaced;
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
      replaced = waiting.put(connection, accepted);
      waiting.notifyAll();
    }
    if (replaced != null) {
      replaced.close();
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    synchronized (waiting) {
      closed = true;
      waiting.values().forEach(Connection::close);
      waiting.clear();
      waiting.notifyAll();
    }
  }
}
