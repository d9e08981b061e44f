package dev.kastor.scheduler;

import java.util.Collections;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Replicas per node, by node name in order; empty means the job does not run.
 *
 * @param replicasByNode positive counts only
 */
public record Allocation(SequencedMap<String, Integer> replicasByNode) {
  public static final Allocation NONE = new Allocation(new TreeMap<>());

  public Allocation {
    for (var entry : replicasByNode.entrySet()) {
      if (entry.getValue() < 1) {
        throw new IllegalArgumentException(
            "replicas on node %s must be at least 1 but are %d"
                .formatted(entry.getKey(), entry.getValue()));
      }
    }
    replicasByNode = Collections.unmodifiableSequencedMap(new TreeMap<>(replicasByNode));
  }

  /** All replicas on one node. */
  public static Allocation on(String node, int replicas) {
    var map = new TreeMap<String, Integer>();
    map.put(node, replicas);
    return new Allocation(map);
  }

  /** Replicas on all nodes together. */
  public int replicas() {
    return replicasByNode.values().stream().mapToInt(Integer::intValue).sum();
  }

  /** How many nodes hold replicas. */
  public int nodes() {
    return replicasByNode.size();
  }

  public boolean isEmpty() {
    return replicasByNode.isEmpty();
  }
}
