package dev.kastor.operator.pods;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToIntFunction;

/**
 * Free slots that somebody is about to fill: two jobs that wait for one slot look at it at the same
 * time when it gets free, and only one of them may make its pod. Thread-safe.
 */
public final class SlotClaims {
  private final Map<String, Integer> claimed = new HashMap<>();

  /** Slots of replicas by node that nobody else fills until this is closed. */
  public final class Claim implements AutoCloseable {
    private final Map<String, Integer> replicas;
    private final int slotsPerReplica;
    private final boolean whole;

    private Claim(Map<String, Integer> replicas, int slotsPerReplica, boolean whole) {
      this.replicas = replicas;
      this.slotsPerReplica = slotsPerReplica;
      this.whole = whole;
    }

    /** Replicas by node whose slots these are, 0 where there was no room for one. */
    public Map<String, Integer> replicas() {
      return replicas;
    }

    /** All of them. */
    public int total() {
      return replicas.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Whether it is all that was wanted. */
    public boolean whole() {
      return whole;
    }

    /** Whoever looks from now on sees the pods that were made, or free slots. */
    @Override
    public void close() {
      synchronized (SlotClaims.this) {
        add(replicas, -slotsPerReplica);
        claimed.values().removeIf(slots -> slots == 0);
      }
    }
  }

  /**
   * Claims the slots of as many of the wanted replicas as there is room for.
   *
   * @param wanted replicas by node
   * @param slotsPerReplica slots of a node that each of them takes
   * @param free how many slots of a node nobody holds
   */
  synchronized Claim claim(
      Map<String, Integer> wanted, int slotsPerReplica, ToIntFunction<String> free) {
    Map<String, Integer> replicas = new TreeMap<>();
    wanted.forEach((node, count) -> {
      int left = free.applyAsInt(node) - claimed.getOrDefault(node, 0);
      replicas.put(node, Math.clamp(left / slotsPerReplica, 0, count));
    });
    add(replicas, slotsPerReplica);
    return new Claim(replicas, slotsPerReplica, replicas.equals(wanted));
  }

  private void add(Map<String, Integer> replicas, int slotsPerReplica) {
    replicas.forEach((node, count) -> claimed.merge(node, count * slotsPerReplica, Integer::sum));
  }
}
