package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.Allocation;
import java.util.Arrays;
import java.util.BitSet;

/** The slots of each node that nobody has yet. Owned by one planning call. */
final class FreeSlots {
  private final Pools pools;
  private final int[] free;
  private final BitSet[][] nodesByFree;

  FreeSlots(Pools pools) {
    this.pools = pools;
    free = new int[pools.nodes().size()];
    nodesByFree = new BitSet[pools.count()][];
    for (int p = 0; p < nodesByFree.length; p++) {
      nodesByFree[p] = new BitSet[pools.nodeSlots()[p] + 1];
      Arrays.setAll(nodesByFree[p], f -> new BitSet());
    }
    for (int n = 0; n < free.length; n++) {
      free[n] = pools.nodes().get(n).slots();
      nodesByFree[pools.poolOf()[n]][free[n]].set(n);
    }
  }

  /** Free slots of a node. */
  int on(int node) {
    return free[node];
  }

  /** The nodes of a pool with exactly so many free slots. */
  BitSet with(int pool, int slots) {
    return nodesByFree[pool][slots];
  }

  /** Whether all of an allocation is there and free. */
  boolean holds(Allocation allocation) {
    for (int i = 0; i < allocation.nodes(); i++) {
      Integer node = pools.indexByName().get(allocation.node(i));
      if (node == null || free[node] < allocation.slots(i)) {
        return false;
      }
    }
    return true;
  }

  /** Takes slots of a node, or gives them back if negative. */
  void take(int node, int slots) {
    int pool = pools.poolOf()[node];
    nodesByFree[pool][free[node]].clear(node);
    free[node] -= slots;
    nodesByFree[pool][free[node]].set(node);
  }

  /** Free slots of each pool, as far as replicas of so many slots can take them. */
  int[] left(int slotsPerReplica) {
    int[] left = new int[pools.count()];
    for (int n = 0; n < free.length; n++) {
      left[pools.poolOf()[n]] += free[n] - free[n] % slotsPerReplica;
    }
    return left;
  }
}
