package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.Node;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Placement that packs jobs tightly: on the node that they fill most, else over as few nodes as
 * possible. A job that is profiled by GPU type goes to the first type that has room. Owned by one
 * planning call.
 */
public final class FreeSlots implements Placement {
  private final NodeSlots slots;

  /** All slots of these nodes. */
  public FreeSlots(List<Node> nodes) {
    slots = new NodeSlots(nodes);
  }

  @Override
  public void take(Allocation allocation) {
    slots.take(allocation);
  }

  @Override
  public boolean keep(Allocation allocation, JobSpec spec, int replicas) {
    return allocation.replicas() == replicas && slots.keep(allocation, spec);
  }

  /** Takes what a job holds if it may run at that size and all of that is free to it. */
  public boolean keepAtAnySize(Allocation allocation, JobSpec spec) {
    return spec.elasticity().allows(allocation.replicas()) && slots.keep(allocation, spec);
  }

  /** Takes exactly these slots if all of them are free. */
  public boolean takeIfFree(Allocation allocation) {
    boolean free = slots.free(allocation);
    if (free) {
      slots.take(allocation);
    }
    return free;
  }

  /** Gives slots back. */
  public void give(Allocation allocation) {
    slots.give(allocation);
  }

  /** Slots that are free on all nodes together. */
  public int left() {
    int left = 0;
    for (int n = 0; n < slots.size(); n++) {
      left += Math.max(0, slots.free(n));
    }
    return left;
  }

  /**
   * Slots that are free on one node; 0 where there is no such node or others hold more than it has.
   */
  public int left(String node) {
    return Math.max(0, slots.free(node));
  }

  @Override
  public Optional<Allocation> place(JobSpec spec, int replicas) {
    return place(spec, replicas, Integer.MAX_VALUE);
  }

  /** The same with at most so many slots. */
  public Optional<Allocation> place(JobSpec spec, int replicas, int most) {
    for (boolean[] set : slots.typeSets(spec)) {
      int each = slots.slotsPerReplica(spec, set);
      int wanted = replicas * each;
      if (wanted > most) {
        continue;
      }
      int tightest = slots.tightest(set, wanted);
      if (tightest >= 0) {
        slots.take(tightest, wanted);
        return Optional.of(Allocation.on(slots.name(tightest), replicas, each));
      }
      if (slots.replicas(set, each) >= replicas) {
        // In name order, as pods are numbered; step times do not depend on it where nodes are
        // alike.
        SequencedMap<String, Integer> placed = new TreeMap<>();
        slots.spread(set, replicas, each, placed);
        return Optional.of(new Allocation(placed, each));
      }
    }
    return Optional.empty();
  }
}
