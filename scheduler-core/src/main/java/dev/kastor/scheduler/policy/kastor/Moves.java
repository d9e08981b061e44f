package dev.kastor.scheduler.policy.kastor;

import java.time.Duration;
import java.time.Instant;
import java.util.TreeMap;

/**
 * Moves of the last hour that made room for larger jobs, and how many more there may be. What was
 * planned counts, carried out or not. Owned by a policy: another one begins at none.
 */
final class Moves {
  private static final Duration WINDOW = Duration.ofHours(1);

  private final int perNode;
  private final TreeMap<Instant, Integer> counts = new TreeMap<>();

  /**
   * None so far.
   *
   * @param perNode moves within any hour for each node of the cluster
   */
  Moves(int perNode) {
    this.perNode = perNode;
  }

  /**
   * Moves that there may still be at an instant in a cluster of so many nodes. A plan for the same
   * instant, or for an earlier one as after a clock was set back, takes the place of what was
   * planned before.
   */
  int left(Instant now, int nodes) {
    counts.headMap(now.minus(WINDOW), true).clear();
    counts.tailMap(now, true).clear();
    long left = (long) perNode * nodes - counts.values().stream().mapToLong(count -> count).sum();
    return Math.clamp(left, 0, Integer.MAX_VALUE);
  }

  /** Notes what is planned at an instant. */
  void note(Instant now, int count) {
    if (count > 0) {
      counts.put(now, count);
    }
  }
}
