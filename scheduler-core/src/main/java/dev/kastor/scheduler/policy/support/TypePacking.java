package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Node;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
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

  /** Free slots, as far as replicas of so many slots can take them. */
  public int free(int slotsPerReplica) {
    int sum = 0;
    for (int slots : free) {
      sum += Math.max(0, slots) / slotsPerReplica * slotsPerReplica;
    }
    return sum;
  }

  /** Takes the slots of a job that must stay where it is. */
  public void take(Allocation allocation) {
    for (int i = 0; i < allocation.nodes(); i++) {
      for (int n = 0; n < free.length; n++) {
        if (nodes.get(n).name().equals(allocation.node(i))) {
          free[n] -= allocation.slots(i);
        }
      }
    }
  }

  /** Takes slots for the replicas of a job; empty, with nothing taken, if there are not enough. */
  public Optional<Allocation> place(int replicas, int slotsPerReplica) {
    int perNode = size / slotsPerReplica;
    if (replicas * slotsPerReplica > free(slotsPerReplica)) {
      return Optional.empty();
    }
    SequencedMap<String, Integer> placed = new LinkedHashMap<>();
    int left = replicas;
    int at = pointer;
    for (int seen = 0; seen < free.length && left >= perNode; seen++) {
      if (free[at] == size) {
        left -= take(at, perNode, slotsPerReplica, placed);
        pointer = at;
      }
      at = (at + 1) % free.length;
    }
    at = pointer;
    for (int seen = 0; seen < free.length && left > 0; seen++) {
      int room = free[at] / slotsPerReplica;
      if (room > 0) {
        left -= take(at, Math.min(left, room), slotsPerReplica, placed);
        pointer = at;
      }
      at = (at + 1) % free.length;
    }
    return Optional.of(new Allocation(placed, slotsPerReplica));
  }

  private int take(int n, int replicas, int slotsPerReplica, SequencedMap<String, Integer> placed) {
    free[n] -= replicas * slotsPerReplica;
    placed.merge(nodes.get(n).name(), replicas, Integer::sum);
    return replicas;
  }
}
