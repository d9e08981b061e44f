package dev.kastor.agent.ring;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Our part in a ring of some members of a {@link Ring}, with links of its own.
 *
 * <p>Collective: every member of the group calls the same operations in the same order. One thread
 * uses it. A failure closes the ring of all members, and with it all groups.
 */
public final class RingGroup {
  private final Ring ring;
  private final int rank;
  private final int size;
  private final @Nullable Links links;
  private final float[] received;

  private RingGroup(Ring ring, int rank, int size, @Nullable Links links) {
    this.ring = ring;
    this.rank = rank;
    this.size = size;
    this.links = links;
    this.received = new float[links == null ? 0 : Frame.CHUNK_FLOATS];
  }

  /**
   * Opens groups.
   *
   * <p>All members connect before any of them looks for a connection, so that none takes one that
   * is left of an earlier try in the same generation.
   */
  static List<Optional<RingGroup>> open(Ring ring, Peers peers, List<List<Integer>> groups)
      throws RingBrokenException {
    check(groups, ring.size());
    Deque<Connection> opened = new ArrayDeque<>();
    try {
      for (List<Integer> group : groups) {
        if (group.size() > 1 && group.contains(ring.rank())) {
          opened.add(peers.connect(Hello.Purpose.GROUP, neighbour(group, ring.rank(), 1)));
        }
      }
      ring.allGather(new byte[0]);
      List<Optional<RingGroup>> own = new ArrayList<>();
      for (List<Integer> group : groups) {
        if (!group.contains(ring.rank())) {
          own.add(Optional.empty());
          continue;
        }
        Links links = null;
        if (group.size() > 1) {
          Connection incoming = peers.take(Hello.Purpose.GROUP, neighbour(group, ring.rank(), -1));
          links = Links.watched(incoming, opened.remove(), ring.silence());
        }
        RingGroup part = new RingGroup(ring, group.indexOf(ring.rank()), group.size(), links);
        ring.add(part);
        own.add(Optional.of(part));
      }
      return own;
    } catch (IOException e) {
      throw unformed(ring, opened, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unformed(ring, opened, e);
    }
  }

  private static int neighbour(List<Integer> group, int rank, int places) {
    return group.get(Math.floorMod(group.indexOf(rank) + places, group.size()));
  }

  private static RingBrokenException unformed(Ring ring, Deque<Connection> opened, Exception e) {
    opened.forEach(Connection::close);
    ring.close();
    return e instanceof RingBrokenException broken
        ? broken
        : new RingBrokenException(
            "groups of generation %d did not form: %s".formatted(ring.generation(), e.getMessage()),
            e);
  }

  /**
   * Checks that groups can be opened.
   *
   * @param size members of the ring of all
   */
  private static void check(List<List<Integer>> groups, int size) {
    Set<List<Integer>> neighbours = new HashSet<>();
    for (List<Integer> group : groups) {
      if (group.isEmpty()
          || new HashSet<>(group).size() < group.size()
          || group.stream().anyMatch(rank -> rank < 0 || rank >= size)) {
        throw new IllegalArgumentException(
            "group %s must have different ranks from 0 to %d".formatted(group, size - 1));
      }
      for (int place = 0; group.size() > 1 && place < group.size(); place++) {
        List<Integer> pair = List.of(group.get(place), group.get((place + 1) % group.size()));
        if (!neighbours.add(pair)) {
          throw new IllegalArgumentException(
              "ranks %d and %d are neighbours in two groups".formatted(pair.get(0), pair.get(1)));
        }
      }
    }
  }

  /** Our place in the group. */
  public int rank() {
    return rank;
  }

  /** Number of its members. */
  public int size() {
    return size;
  }

  /**
   * Sums a vector, of which the member at place {@code i} gets the elements from {@code bounds[i]}
   * to {@code bounds[i + 1]}; others hold partial sums then.
   */
  public void reduceScatter(float[] data, int[] bounds) throws RingBrokenException {
    run(0, size - 1, data, bounds);
  }

  /** Gives each member's elements to all others. */
  public void allGather(float[] data, int[] bounds) throws RingBrokenException {
    run(size - 1, 2 * (size - 1), data, bounds);
  }

  /** Replaces the elements {@code [from, to)} by their sums, with the same bits on every member. */
  public void allReduce(float[] data, int from, int to) throws RingBrokenException {
    run(0, 2 * (size - 1), data, VectorSegments.equal(from, to, size));
  }

  private void run(int from, int to, float[] data, int[] bounds) throws RingBrokenException {
    if (bounds.length != size + 1) {
      throw new IllegalArgumentException(
          "%d bounds for a group of %d; it needs one more than members"
              .formatted(bounds.length, size));
    }
    if (links == null) {
      return;
    }
    // Rounds end with the sums of the segment after that of the rank they begin with.
    Circulation circulation = new Circulation(links, Math.floorMod(rank - 1, size), size);
    try {
      circulation.run(from, to, new VectorSegments(data, bounds, received));
    } catch (RingBrokenException e) {
      ring.close();
      throw e;
    }
  }

  void close() {
    if (links != null) {
      links.close(null);
    }
  }
}
