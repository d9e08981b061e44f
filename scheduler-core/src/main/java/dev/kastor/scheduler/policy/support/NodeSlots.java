package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * Slots by node while a plan is made, in arrays: node {@code n} is the n-th of the snapshot. Owned
 * by one planning call.
 */
public final class NodeSlots {
  private final List<Node> nodes;
  private final int[] free;
  private final int[] type;
  private final List<String> types = new ArrayList<>();
  private final Map<String, Integer> index;

  /** All slots of these nodes. */
  public NodeSlots(List<Node> nodes) {
    this.nodes = nodes;
    free = new int[nodes.size()];
    type = new int[nodes.size()];
    index = HashMap.newHashMap(nodes.size());
    for (int n = 0; n < free.length; n++) {
      Node node = nodes.get(n);
      free[n] = node.slots();
      index.put(node.name(), n);
      // Few types, and nodes of one type stand together.
      int known = n > 0 && types.get(type[n - 1]).equals(node.gpuType()) ? type[n - 1] : -1;
      type[n] = known >= 0 ? known : types.indexOf(node.gpuType());
      if (type[n] < 0) {
        type[n] = types.size();
        types.add(node.gpuType());
      }
    }
  }

  /** Number of nodes. */
  public int size() {
    return free.length;
  }

  /** Free slots of a node; below 0 where jobs hold more than there is. */
  public int free(int n) {
    return free[n];
  }

  /** Free slots of a node by its name; 0 for one that is not there. */
  public int free(String node) {
    Integer n = index.get(node);
    return n == null ? 0 : free[n];
  }

  /** Name of a node. */
  public String name(int n) {
    return nodes.get(n).name();
  }

  /** Which GPU types there are; {@link #type} gives positions in it. */
  public List<String> types() {
    return types;
  }

  /** Position of the GPU type of a node. */
  public int type(int n) {
    return type[n];
  }

  /** Takes slots of a node. */
  public void take(int n, int slots) {
    free[n] -= slots;
  }

  /** Takes what an allocation holds, even where it is not there; unknown nodes are passed over. */
  public void take(Allocation allocation) {
    for (int i = 0; i < allocation.nodes(); i++) {
      Integer n = index.get(allocation.node(i));
      if (n != null) {
        free[n] -= allocation.slots(i);
      }
    }
  }

  /** Gives back what an allocation holds. */
  public void give(Allocation allocation) {
    for (int i = 0; i < allocation.nodes(); i++) {
      Integer n = index.get(allocation.node(i));
      if (n != null) {
        free[n] += allocation.slots(i);
      }
    }
  }

  /** Whether all slots of an allocation are there and free. */
  public boolean free(Allocation allocation) {
    for (int i = 0; i < allocation.nodes(); i++) {
      Integer n = index.get(allocation.node(i));
      if (n == null || free[n] < allocation.slots(i)) {
        return false;
      }
    }
    return true;
  }

  /** Type of a node's GPUs; empty for a node that is not there. */
  public String typeOf(String node) {
    Integer n = index.get(node);
    return n == null ? "" : types.get(type[n]);
  }

  private boolean fits(Allocation allocation, JobSpec spec) {
    int first = -1;
    for (int i = 0; i < allocation.nodes(); i++) {
      Integer n = index.get(allocation.node(i));
      if (n == null || free[n] < allocation.slots(i) || !suits(n, allocation, spec)) {
        return false;
      }
      first = first < 0 ? type[n] : first;
      if (!spec.byGpuType().isEmpty() && type[n] != first) {
        return false;
      }
    }
    return true;
  }

  /** Takes the slots of an allocation if all of them are free on nodes that the job may use. */
  public boolean keep(Allocation allocation, JobSpec spec) {
    if (allocation.nodes() == 1) {
      // Most jobs sit on one node, and this is asked for each of them at every decision.
      Integer n = index.get(allocation.node(0));
      if (n == null || free[n] < allocation.slots(0) || !suits(n, allocation, spec)) {
        return false;
      }
      free[n] -= allocation.slots(0);
      return true;
    }
    if (!fits(allocation, spec)) {
      return false;
    }
    take(allocation);
    return true;
  }

  /** Whether the job runs on a node, with replicas of the size that these have. */
  private boolean suits(int n, Allocation allocation, JobSpec spec) {
    String gpuType = types.get(type[n]);
    return spec.runsOn(gpuType) && spec.slotsPerReplica(gpuType) == allocation.slotsPerReplica();
  }

  /**
   * The sets of GPU types on whose nodes a job may be placed together: one for each type if it is
   * profiled by type, else all that it runs on at once. Positions are those of {@link #types}.
   */
  public List<boolean[]> typeSets(JobSpec spec) {
    List<boolean[]> sets = new ArrayList<>();
    boolean[] all = new boolean[types.size()];
    for (int t = 0; t < all.length; t++) {
      all[t] = spec.runsOn(types.get(t));
      if (all[t] && !spec.byGpuType().isEmpty()) {
        boolean[] alone = new boolean[types.size()];
        alone[t] = true;
        sets.add(alone);
      }
    }
    if (spec.byGpuType().isEmpty()) {
      sets.add(all);
    }
    return sets;
  }

  /** Slots that one replica of a job takes on the types of one of its sets. */
  public int slotsPerReplica(JobSpec spec, boolean[] set) {
    for (int t = 0; t < set.length; t++) {
      if (set[t]) {
        return spec.slotsPerReplica(types.get(t));
      }
    }
    return spec.slotsPerReplica();
  }

  /** Replicas of so many slots that the free slots of a set of types can hold. */
  public int replicas(boolean[] set, int slotsPerReplica) {
    int sum = 0;
    for (int n = 0; n < free.length; n++) {
      sum += set[type[n]] ? Math.max(0, free[n]) / slotsPerReplica : 0;
    }
    return sum;
  }

  /** Whether the free slots of one of the sets of types can hold so many replicas of a job. */
  public boolean holds(JobSpec spec, int replicas) {
    for (boolean[] set : typeSets(spec)) {
      if (replicas(set, slotsPerReplica(spec, set)) >= replicas) {
        return true;
      }
    }
    return false;
  }

  /**
   * Takes slots for replicas on the nodes of a set, each time on the one with most free slots;
   * there must be enough.
   *
   * @param placed the replicas by node
   */
  public void spread(
      boolean[] set, int replicas, int slotsPerReplica, SequencedMap<String, Integer> placed) {
    for (int left = replicas; left > 0; ) {
      int freest = freest(set);
      int here = Math.min(left, free[freest] / slotsPerReplica);
      placed.put(name(freest), here);
      take(freest, here * slotsPerReplica);
      left -= here;
    }
  }

  /** Free slots on the nodes of a set of types. */
  public int free(boolean[] set) {
    int sum = 0;
    for (int n = 0; n < free.length; n++) {
      sum += set[type[n]] ? Math.max(0, free[n]) : 0;
    }
    return sum;
  }

  /** The node of the set with most free slots, the first of equals; -1 if the set is empty. */
  public int freest(boolean[] set) {
    int best = -1;
    for (int n = 0; n < free.length; n++) {
      if (set[type[n]] && (best < 0 || free[n] > free[best])) {
        best = n;
      }
    }
    return best;
  }

  /** The node with fewest free slots of those with enough, the first of equals; -1 if none. */
  public int tightest(boolean[] set, int slots) {
    int best = -1;
    for (int n = 0; n < free.length; n++) {
      if (free[n] >= slots && set[type[n]] && (best < 0 || free[n] < free[best])) {
        best = n;
        if (free[n] == slots) {
          break;
        }
      }
    }
    return best;
  }
}
