package dev.kastor.scheduler.model;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/**
 * Replicas of a job by node, each of which takes the same number of slots there; empty means the
 * job does not run.
 *
 * <p>What the job is counts in replicas, what it takes of the cluster in slots. A replica lies on
 * one node. Nodes keep the order in which they were given: step times may depend on it (a ring
 * passes through the nodes in order). Two allocations are equal if each node gives the same, in any
 * order. Immutable.
 */
public final class Allocation {
  public static final Allocation NONE = new Allocation(new String[0], new int[0], 1);

  private final String[] nodes;
  private final int[] counts;
  private final int replicas;
  private final int slotsPerReplica;

  private Allocation(String[] nodes, int[] counts, int slotsPerReplica) {
    this.nodes = nodes;
    this.counts = counts;
    // All empty ones are equal.
    this.slotsPerReplica = nodes.length == 0 ? 1 : slotsPerReplica;
    if (slotsPerReplica < 1) {
      throw new IllegalArgumentException(
          "slotsPerReplica must be at least 1 but is " + slotsPerReplica);
    }
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

  /** Replicas of one slot by node, in the map's order; all counts at least 1. */
  public Allocation(SequencedMap<String, Integer> replicasByNode) {
    this(replicasByNode, 1);
  }

  /** Replicas of so many slots by node, in the map's order; all counts at least 1. */
  public Allocation(SequencedMap<String, Integer> replicasByNode, int slotsPerReplica) {
    this(
        replicasByNode.keySet().toArray(String[]::new),
        replicasByNode.values().stream().mapToInt(Integer::intValue).toArray(),
        slotsPerReplica);
  }

  /** Replicas of one slot, all on one node. */
  public static Allocation on(String node, int replicas) {
    return on(node, replicas, 1);
  }

  /** Replicas of so many slots, all on one node. */
  public static Allocation on(String node, int replicas, int slotsPerReplica) {
    return new Allocation(new String[] {node}, new int[] {replicas}, slotsPerReplica);
  }

  /**
   * The replicas that hold these slots.
   *
   * @throws IllegalArgumentException if the slots of a node are not those of whole replicas
   */
  public static Allocation ofSlots(SequencedMap<String, Integer> slotsByNode, int slotsPerReplica) {
    if (slotsPerReplica == 1) {
      return new Allocation(slotsByNode);
    }
    SequencedMap<String, Integer> replicas = new LinkedHashMap<>();
    slotsByNode.forEach((node, slots) -> {
      if (slots % slotsPerReplica != 0) {
        throw new IllegalArgumentException(
            "%d slots of node %s are not whole replicas of %d slots"
                .formatted(slots, node, slotsPerReplica));
      }
      replicas.put(node, slots / slotsPerReplica);
    });
    return new Allocation(replicas, slotsPerReplica);
  }

  /** Replicas on all nodes together. */
  public int replicas() {
    return replicas;
  }

  /** Slots that each replica takes; 1 for an allocation that is empty. */
  public int slotsPerReplica() {
    return slotsPerReplica;
  }

  /** Slots on all nodes together. */
  public int slots() {
    return replicas * slotsPerReplica;
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
  public int replicas(int i) {
    return counts[i];
  }

  /** Slots on the {@code i}-th node. */
  public int slots(int i) {
    return counts[i] * slotsPerReplica;
  }

  /** Replicas on each node, in order. */
  public int[] replicaCounts() {
    return counts.clone();
  }

  /** The replicas that stay where they are in a change to the other allocation. */
  public Allocation common(Allocation other) {
    if (slotsPerReplica != other.slotsPerReplica) {
      return NONE;
    }
    SequencedMap<String, Integer> both = new LinkedHashMap<>();
    for (int i = 0; i < nodes.length; i++) {
      for (int k = 0; k < other.nodes.length; k++) {
        if (nodes[i].equals(other.nodes[k])) {
          both.put(nodes[i], Math.min(counts[i], other.counts[k]));
        }
      }
    }
    return new Allocation(both, slotsPerReplica);
  }

  /** Replicas as a map, for display and storage. */
  public SequencedMap<String, Integer> replicasByNode() {
    return byNode(1);
  }

  /** Slots by node. */
  public SequencedMap<String, Integer> slotsByNode() {
    return byNode(slotsPerReplica);
  }

  private SequencedMap<String, Integer> byNode(int each) {
    SequencedMap<String, Integer> map = new LinkedHashMap<>();
    for (int i = 0; i < nodes.length; i++) {
      map.put(nodes[i], counts[i] * each);
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
        || slotsPerReplica != that.slotsPerReplica
        || nodes.length != that.nodes.length) {
      return false;
    }
    return (Arrays.equals(nodes, that.nodes) && Arrays.equals(counts, that.counts))
        || Map.copyOf(replicasByNode()).equals(Map.copyOf(that.replicasByNode()));
  }

  @Override
  public int hashCode() {
    int hash = slotsPerReplica - 1;
    for (int i = 0; i < nodes.length; i++) {
      hash += nodes[i].hashCode() ^ counts[i];
    }
    return hash;
  }

  @Override
  public String toString() {
    return slotsPerReplica == 1
        ? replicasByNode().toString()
        : "%s of %d slots".formatted(replicasByNode(), slotsPerReplica);
  }
}
