package dev.kastor.agent.ring;

import java.net.InetAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Limits of the handshakes that are in progress at once, by the address they come from.
 *
 * <p>Addresses that the membership names have places of their own, and the newest connection always
 * gets one: a member is through before a whole set of others has come after it, even where a
 * stranger shares its address. All other addresses have few, and the newest is refused. What is
 * refused is not closed at once, as whoever tries again at once would keep a processor busy; but it
 * is once its address turns out to be a member's. Thread-safe.
 */
final class Admission {
  static final int MEMBER_PLACES = 256;
  static final int STRANGER_PLACES = 32;
  static final int PLACES_PER_STRANGER = 4;
  static final int MOST_REFUSED = 256;

  private final Deque<Place> ofMembers = new ArrayDeque<>();
  private final Map<InetAddress, Integer> ofStrangers = new HashMap<>();
  private final Map<SocketChannel, InetAddress> refused = new HashMap<>();
  private Set<InetAddress> members = Set.of();
  private int strangers;

  /** One handshake in progress. */
  final class Place implements AutoCloseable {
    private final SocketChannel channel;
    private final @Nullable InetAddress stranger;

    private Place(SocketChannel channel, @Nullable InetAddress stranger) {
      this.channel = channel;
      this.stranger = stranger;
    }

    /** The handshake is over. */
    @Override
    public void close() {
      release(this);
    }
  }

  /** From now on these are the members' addresses. */
  synchronized void expect(Set<InetAddress> addresses) {
    members = Set.copyOf(addresses);
    Iterator<Map.Entry<SocketChannel, InetAddress>> entries = refused.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<SocketChannel, InetAddress> entry = entries.next();
      if (members.contains(entry.getValue())) {
        Sockets.close(entry.getKey());
        entries.remove();
      }
    }
  }

  /** A place for a new connection, or null if its address has as many as it may. */
  synchronized @Nullable Place admit(SocketChannel channel, InetAddress from) {
    if (members.contains(from)) {
      if (ofMembers.size() == MEMBER_PLACES) {
        Sockets.close(ofMembers.removeFirst().channel);
      }
      Place place = new Place(channel, null);
      ofMembers.addLast(place);
      return place;
    }
    int held = ofStrangers.getOrDefault(from, 0);
    if (held == PLACES_PER_STRANGER || strangers == STRANGER_PLACES) {
      return null;
    }
    ofStrangers.put(from, held + 1);
    strangers++;
    return new Place(channel, from);
  }

  private synchronized void release(Place place) {
    if (place.stranger == null) {
      ofMembers.remove(place);
    } else {
      strangers--;
      ofStrangers.computeIfPresent(place.stranger, (_, held) -> held == 1 ? null : held - 1);
    }
  }

  /** Closes a connection that is refused, after a delay if there are not too many of these. */
  void closeAfter(Duration delay, SocketChannel channel, InetAddress from) {
    if (keep(channel, from)) {
      try {
        Thread.sleep(delay);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    Sockets.close(channel);
    synchronized (this) {
      refused.remove(channel);
    }
  }

  private synchronized boolean keep(SocketChannel channel, InetAddress from) {
    if (members.contains(from) || refused.size() == MOST_REFUSED) {
      return false;
    }
    refused.put(channel, from);
    return true;
  }
}
