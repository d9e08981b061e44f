package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Node;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * Placement on the nodes of one GPU type, as Sia's artifact (SOSP 2023, section 3.4) does: whole
 * nodes first, then what is left wherever slots are free, going round from the node of the last
 * job. Larger jobs must come first. Owned by one plan.
 */
public final class TypePacking {
  private final List<Node> nodes;
  private final int[] free;
  private final int size;
  private int pointer;

  /** All slots of these nodes. */
  public TypePacking(List<Node> nodes) {
    this.nodes = nodes;
    free = nodes.stream().mapToInt(Node::slots).toArray();
    size = GpuTypes.largest(nodes);
  }

  /** Number of free slots. */
  public int free() {
    int sum = 0;
    for (int slots : free) {
      sum += Math.max(0, slots);
    }
    return sum;
  }

  /** Takes the slots of a job that must stay where it is. */
  public void take(Allocation allocation) {
    for (int i = 0; i < allocation.nodes(); i++) {
      for (int n = 0; n < free.length; n++) {
        if (nodes.get(n).name().equals(allocation.node(i))) {
          free[n] -= allocation.count(i);
        }
      }
    }
  }

  /** Takes slots for a job; there must be as many. */
  public Allocation place(int slots) {
    SequencedMap<String, Integer> placed = new LinkedHashMap<>();
    int left = slots;
    int at = pointer;
    for (int seen = 0; seen < free.length && left >= size; seen++) {
      if (free[at] == size) {
        left -= take(at, size, placed);
        pointer = at;
      }
      at = (at + 1) % free.length;
    }
    at = pointer;
    for (int seen = 0; seen < free.length && left > 0; seen++) {
      if (free[at] > 0) {
        left -= take(at, Math.min(left, free[at]), placed);
        pointer = at;
      }
      at = (at + 1) % free.length;
    }
    if (left > 0) {
      throw new IllegalArgumentException(
          "%d of %d slots do not fit on %d nodes".formatted(left, slots, free.length));
    }
    return new Allocation(placed);
  }

  private int take(int n, int slots, SequencedMap<String, Integer> placed) {
    free[n] -= slots;
    placed.merge(nodes.get(n).name(), slots, Integer::sum);
    return slots;
  }
}
