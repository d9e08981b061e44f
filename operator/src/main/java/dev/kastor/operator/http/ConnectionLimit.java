package dev.kastor.operator.http;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;

/**
 * Bound on open connections. Those of strangers, who have shown no good token, take a small part of
 * the heap together, and half of that from one address; those of an owner are bounded by number.
 *
 * <p>When there is one too many, the oldest that is not being answered ends for it, so that who
 * says quickly who he is gets in beside any number of others who do not. If all are being answered,
 * the new one ends. Thread-safe.
 */
final class ConnectionLimit {
  /** What a stranger may take of the heap: a TLS session, and a head that is not whole. */
  private static final long STRANGER_BYTES = 16 << 10;

  private static final int SHARE_OF_HEAP = 8;
  private static final int FEWEST = 256;

  /** A replica needs two; its client may open some more. */
  static final int OF_OWNER = 64;

  /** The answer to a new connection, and how many others ended for it. */
  record Admission(boolean admitted, int ended) {}

  private final int most;
  private final SequencedSet<OpenConnection> strangers = new LinkedHashSet<>();
  private final Map<String, SequencedSet<OpenConnection>> byAddress = new HashMap<>();
  private final Map<String, SequencedSet<OpenConnection>> byOwner = new HashMap<>();
  private final Map<OpenConnection, String> owners = new HashMap<>();

  ConnectionLimit(long heapBytes) {
    most = Math.clamp(heapBytes / SHARE_OF_HEAP / STRANGER_BYTES, FEWEST, Integer.MAX_VALUE);
  }

  /** How many strangers there may be. */
  int most() {
    return most;
  }

  /** Takes in a new connection, of a stranger, or not. */
  synchronized Admission admit(OpenConnection connection) {
    int ended = 0;
    for (SequencedSet<OpenConnection> full : full(connection)) {
      Optional<OpenConnection> idle = full.stream().filter(old -> !old.isServed()).findFirst();
      if (idle.isEmpty()) {
        return new Admission(false, ended + 1);
      }
      end(idle.get());
      ended++;
    }
    strangers.add(connection);
    byAddress.computeIfAbsent(connection.address(), any -> new LinkedHashSet<>()).add(connection);
    return new Admission(true, ended);
  }

  private List<SequencedSet<OpenConnection>> full(OpenConnection connection) {
    SequencedSet<OpenConnection> neighbours =
        byAddress.getOrDefault(connection.address(), new LinkedHashSet<>());
    if (neighbours.size() >= most / 2) {
      return List.of(neighbours);
    }
    return strangers.size() >= most ? List.of(strangers) : List.of();
  }

  /**
   * Counts a connection as its owner's.
   *
   * @return how many of the owner's ended for it
   */
  synchronized int vouch(OpenConnection connection, String owner) {
    if (owner.equals(owners.get(connection)) || !isOpen(connection)) {
      return 0;
    }
    remove(connection);
    SequencedSet<OpenConnection> own = byOwner.computeIfAbsent(owner, any -> new LinkedHashSet<>());
    int ended = 0;
    if (own.size() >= OF_OWNER) {
      end(own.stream().filter(old -> !old.isServed()).findFirst().orElseGet(own::getFirst));
      ended = 1;
    }
    byOwner.computeIfAbsent(owner, any -> new LinkedHashSet<>()).add(connection);
    owners.put(connection, owner);
    return ended;
  }

  /** Forgets a connection that has ended. */
  synchronized void remove(OpenConnection connection) {
    strangers.remove(connection);
    removeFrom(byAddress, connection.address(), connection);
    String owner = owners.remove(connection);
    if (owner != null) {
      removeFrom(byOwner, owner, connection);
    }
  }

  /** Ends all whose request is not whole in time, and says how many. */
  int endLate() {
    // Whether it is whole is asked without the lock of this: a connection is closed under its own,
    // and then forgotten here.
    List<OpenConnection> late = open().stream().filter(OpenConnection::isLate).toList();
    late.forEach(this::end);
    return late.size();
  }

  private synchronized Set<OpenConnection> open() {
    Set<OpenConnection> all = new HashSet<>(owners.keySet());
    all.addAll(strangers);
    return all;
  }

  private boolean isOpen(OpenConnection connection) {
    return strangers.contains(connection) || owners.containsKey(connection);
  }

  private void end(OpenConnection connection) {
    remove(connection);
    connection.end();
  }

  private static void removeFrom(
      Map<String, SequencedSet<OpenConnection>> all, String key, OpenConnection connection) {
    SequencedSet<OpenConnection> some = all.get(key);
    if (some != null && some.remove(connection) && some.isEmpty()) {
      all.remove(key);
    }
  }
}
