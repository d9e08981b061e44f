package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.Node;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Placement on the node with most free slots, then the next, until it has all it needs: the rule of
 * the Tiresias and Optimus baselines in Pollux's artifact (OSDI 2021). A job that is profiled by
 * GPU type goes to the type with most free slots. Owned by one planning call.
 */
public final class FreestNodes implements Placement {
  private final NodeSlots slots;

  /** All slots of these nodes. */
  public FreestNodes(List<Node> nodes) {
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

  @Override
  public Optional<Allocation> place(JobSpec spec, int replicas) {
    int most = -1;
    boolean[] best = new boolean[0];
    for (boolean[] set : slots.typeSets(spec)) {
      int free = slots.free(set);
      if (free > most && slots.replicas(set, slots.slotsPerReplica(spec, set)) >= replicas) {
        most = free;
        best = set;
      }
    }
    if (most < 0) {
      return Optional.empty();
    }
    int each = slots.slotsPerReplica(spec, best);
    SequencedMap<String, Integer> placed = new LinkedHashMap<>();
    slots.spread(best, replicas, each, placed);
    return Optional.of(new Allocation(placed, each));
  }
}
