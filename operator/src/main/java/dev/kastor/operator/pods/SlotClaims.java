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

  /** Slots by node that nobody else fills until this is closed. */
  public final class Claim implements AutoCloseable {
    private final Map<String, Integer> slots;
    private final boolean whole;

    private Claim(Map<String, Integer> slots, boolean whole) {
      this.slots = slots;
      this.whole = whole;
    }

    /** How many by node, 0 where none was free. */
    public Map<String, Integer> slots() {
      return slots;
    }

    /** All of them. */
    public int total() {
      return slots.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Whether it is all that was wanted. */
    public boolean whole() {
      return whole;
    }

    /** Whoever looks from now on sees the pods that were made, or free slots. */
    @Override
    public void close() {
      synchronized (SlotClaims.this) {
        slots.forEach((node, count) -> claimed.merge(node, -count, Integer::sum));
        claimed.values().removeIf(count -> count == 0);
      }
    }
  }

  /**
   * Claims as many of the wanted slots as there are.
   *
   * @param wanted slots by node
   * @param free how many of a node nobody holds
   */
  synchronized Claim claim(Map<String, Integer> wanted, ToIntFunction<String> free) {
    Map<String, Integer> slots = new TreeMap<>();
    wanted.forEach((node, count) -> {
      int left = free.applyAsInt(node) - claimed.getOrDefault(node, 0);
      slots.put(node, Math.clamp(left, 0, count));
    });
    slots.forEach((node, count) -> claimed.merge(node, count, Integer::sum));
    return new Claim(slots, slots.equals(wanted));
  }
}
