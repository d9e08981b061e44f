package dev.kastor.scheduler.model;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/**
 * Slots of a job by node; empty means the job does not run.
 *
 * <p>Nodes keep the order in which they were given: step times may depend on it (a ring passes
 * through the nodes in order). Two allocations are equal if each node gives the same, in any order.
 * Immutable.
 */
public final class Allocation {
  public static final Allocation NONE = new Allocation(new String[0], new int[0]);

  private final String[] nodes;
  private final int[] counts;
  private final int replicas;

  private Allocation(String[] nodes, int[] counts) {
    this.nodes = nodes;
    this.counts = counts;
    int sum = 0;
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] < 1) {
        throw new IllegalArgumentException(
            "replicas on node %s must be at least 1 but are %d".formatted(nodes[i], counts[i]));
      }
      sum += counts[i];
    }
    replicas = sum;
  }

  /** Replicas by node, in the map's order; all counts at least 1. */
  public Allocation(SequencedMap<String, Integer> replicasByNode) {
    this(
        replicasByNode.keySet().toArray(String[]::new),
        replicasByNode.values().stream().mapToInt(Integer::intValue).toArray());
  }

  /** All replicas on one node. */
  public static Allocation on(String node, int replicas) {
    return new Allocation(new String[] {node}, new int[] {replicas});
  }

  /** Replicas on all nodes together. */
  public int replicas() {
    return replicas;
  }

  /** How many nodes hold replicas. */
  public int nodes() {
    return nodes.length;
  }

  public boolean isEmpty() {
    return nodes.length == 0;
  }

  /** Name of the {@code i}-th node. */
  public String node(int i) {
    return nodes[i];
  }

  /** Replicas on the {@code i}-th node. */
  public int count(int i) {
    return counts[i];
  }

  /** Replicas on each node, in order. */
  public int[] counts() {
    return counts.clone();
  }

  /** The same as a map, for display and storage. */
  public SequencedMap<String, Integer> replicasByNode() {
    SequencedMap<String, Integer> map = new LinkedHashMap<>();
    for (int i = 0; i < nodes.length; i++) {
      map.put(nodes[i], counts[i]);
    }
    return map;
  }

  @Override
  public boolean equals(Object other) {
    if (this == other) {
      return true;
    }
    if (!(other instanceof Allocation that)
        || replicas != that.replicas
        || nodes.length != that.nodes.length) {
      return false;
    }
    return (Arrays.equals(nodes, that.nodes) && Arrays.equals(counts, that.counts))
        || Map.copyOf(replicasByNode()).equals(Map.copyOf(that.replicasByNode()));
  }

  @Override
  public int hashCode() {
    int hash = 0;
    for (int i = 0; i < nodes.length; i++) {
      hash += nodes[i].hashCode() ^ counts[i];
    }
    return hash;
  }

  @Override
  public String toString() {
    return replicasByNode().toString();
  }
}
