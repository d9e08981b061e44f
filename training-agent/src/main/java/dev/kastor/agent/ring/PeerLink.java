package dev.kastor.agent.ring;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Connections in both directions between a worker and a parameter server, or two servers, of one
 * generation: each side opens one to the other's listener.
 *
 * <p>What flows are messages and vectors whose length both sides know. Both sides ping while they
 * compute; a side that is silent for longer than the limit breaks the link, and so does the first
 * failure. One thread uses a link; {@link #close} may come from any.
 */
public final class PeerLink implements AutoCloseable {
  /** Most bytes of a message. */
  public static final int MOST_BYTES = Frame.MAX_PAYLOAD;

  private final Links links;

  private PeerLink(Links links) {
    this.links = links;
  }

  /**
   * Process at one end.
   *
   * @param server whether it is a server
   * @param number rank of a worker, index of a server
   */
  public record End(boolean server, int number) {
    private Hello.Key to(End other, long generation) {
      Hello.Purpose purpose = Hello.Purpose.WORKER;
      if (server) {
        purpose = other.server ? Hello.Purpose.SERVERS : Hello.Purpose.SERVER;
      }
      return new Hello.Key(purpose, generation, number, other.number);
    }

    @Override
    public String toString() {
      return (server ? "server " : "worker ") + number;
    }
  }

  /**
   * This process in a generation.
   *
   * @param self its end of links
   * @param abandoned polled while waiting; true gives up
   */
  public record Place(
      RingListener listener,
      long generation,
      End self,
      RingLimits limits,
      BooleanSupplier abandoned) {}

  /** Connects to a server, which then connects to us. */
  public static PeerLink connect(Place place, End server, InetSocketAddress address)
      throws IOException {
    // What the server opened before now answers a connection of ours that we gave up.
    place.listener.discard(server.to(place.self, place.generation));
    Connection outgoing = outgoing(place, server, address);
    try {
      return joined(incoming(place, server, place.limits.connect()), outgoing, place);
    } catch (IOException e) {
      outgoing.close();
      throw e;
    }
  }

  /**
   * Waits for a process to connect, and connects to it.
   *
   * @param limit of the wait
   */
  public static PeerLink accept(Place place, End peer, InetSocketAddress address, Duration limit)
      throws IOException {
    Connection incoming = incoming(place, peer, limit);
    try {
      return joined(incoming, outgoing(place, peer, address), place);
    } catch (IOException e) {
      incoming.close();
      throw e;
    }
  }

  private static Connection outgoing(Place place, End peer, InetSocketAddress address)
      throws IOException {
    Hello.Key key = place.self.to(peer, place.generation);
    return Sockets.connect(address, place.listener.key(), key, place.limits, place.abandoned);
  }

  private static Connection incoming(Place place, End peer, Duration limit) throws IOException {
    try {
      return place.listener.take(peer.to(place.self, place.generation), limit, place.abandoned);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RingBrokenException("interrupted while waiting for " + peer, e);
    }
  }

  private static PeerLink joined(Connection incoming, Connection outgoing, Place place) {
    return new PeerLink(Links.watched(incoming, outgoing, place.limits.silence()));
  }

  /** Sends a message of at most {@link #MOST_BYTES}. */
  public void send(byte[] message) throws RingBrokenException {
    if (message.length > MOST_BYTES) {
      throw new IllegalArgumentException(
          "a message of %d bytes; at most %d are allowed".formatted(message.length, MOST_BYTES));
    }
    links.guarded(() -> links.writer().gather(message));
  }

  /** Waits for the next message. */
  public byte[] receive() throws RingBrokenException {
    byte[][] message = new byte[1][];
    links.guarded(() -> message[0] = links.reader().gather(MOST_BYTES));
    return message[0];
  }

  /** Sends the elements {@code [from, to)}. */
  public void send(float[] vector, int from, int to) throws RingBrokenException {
    links.guarded(() -> {
      for (int at = from; at < to; at += Frame.CHUNK_FLOATS) {
        links.writer().chunk(vector, at, Math.min(Frame.CHUNK_FLOATS, to - at));
      }
    });
  }

  /** Waits for the elements {@code [from, to)}. */
  public void receive(float[] vector, int from, int to) throws RingBrokenException {
    links.guarded(() -> {
      for (int at = from; at < to; at += Frame.CHUNK_FLOATS) {
        links.reader().chunk(vector, at, Math.min(Frame.CHUNK_FLOATS, to - at));
      }
    });
  }

  /** Breaks the link because of what the other side said. */
  public RingBrokenException refuse(String why) {
    RingBrokenException broken = new RingBrokenException(why);
    links.close(broken);
    return broken;
  }

  /** Whether it is closed or broken. */
  public boolean isClosed() {
    return links.broken();
  }

  /** Both connections close; the other side notices. */
  @Override
  public void close() {
    links.close(null);
  }
}
