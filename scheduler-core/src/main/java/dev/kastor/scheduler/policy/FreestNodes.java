package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.Node;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Places a job on the node with most free slots, then the next, until it has all it needs: the rule
 * of the Tiresias and Optimus baselines in Pollux's artifact (OSDI 2021). Owned by one planning
 * call.
 */
final class FreestNodes {
  private final List<Node> nodes;
  private final int[] free;
  private final Map<String, Integer> index = new HashMap<>();

  FreestNodes(List<Node> nodes) {
    this.nodes = nodes;
    free = nodes.stream().mapToInt(Node::slots).toArray();
    for (int n = 0; n < free.length; n++) {
      index.put(nodes.get(n).name(), n);
    }
  }

  /** Slots left on nodes that the job can use. */
  int free(JobSpec spec) {
    int sum = 0;
    for (int n = 0; n < free.length; n++) {
      if (spec.runsOn(nodes.get(n).gpuType())) {
        sum += Math.max(0, free[n]);
      }
    }
    return sum;
  }

  void take(Allocation allocation) {
    for (int i = 0; i < allocation.nodes(); i++) {
      Integer n = index.get(allocation.node(i));
      if (n != null) {
        free[n] -= allocation.count(i);
      }
    }
  }

  /** Takes what the job holds, if all of it is still there and free. */
  boolean keep(JobSpec spec, Allocation allocation) {
    for (int i = 0; i < allocation.nodes(); i++) {
      Integer n = index.get(allocation.node(i));
      if (n == null || free[n] < allocation.count(i) || !spec.runsOn(nodes.get(n).gpuType())) {
        return false;
      }
    }
    take(allocation);
    return true;
  }

  /** Takes {@code slots} for the job; empty, with nothing taken, if there are not as many. */
  Optional<Allocation> place(JobSpec spec, int slots) {
    if (free(spec) < slots) {
      return Optional.empty();
    }
    SequencedMap<String, Integer> placed = new LinkedHashMap<>();
    for (int left = slots; left > 0; ) {
      int freest = -1;
      for (int n = 0; n < free.length; n++) {
        if (spec.runsOn(nodes.get(n).gpuType()) && (freest < 0 || free[n] > free[freest])) {
          freest = n;
        }
      }
      int here = Math.min(left, free[freest]);
      placed.put(nodes.get(freest).name(), here);
      free[freest] -= here;
      left -= here;
    }
    return Optional.of(new Allocation(placed));
  }
}
