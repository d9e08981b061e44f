package dev.kastor.simulator.replay;

import dev.kastor.scheduler.model.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * The nodes of a simulated cluster, in groups of one kind.
 *
 * @param groups in the order in which policies see them; several may be of one GPU type
 */
public record ClusterShape(List<Group> groups) {
  /**
   * Nodes of one kind.
   *
   * @param gpuType empty where there is only one
   * @param nodes how many
   * @param gpusPerNode slots on each
   * @param pricePerHour what each costs in an hour, in any one currency; 0 for nothing
   * @param spot whether they may be taken away at any time
   * @param racks how many racks they stand in, as evenly as possible; 0 where none is known
   */
  public record Group(
      String gpuType, int nodes, int gpusPerNode, double pricePerHour, boolean spot, int racks) {
    public Group {
      if (nodes < 1 || gpusPerNode < 1) {
        throw new IllegalArgumentException(
            "a cluster needs at least one node with one GPU, not %dx%d"
                .formatted(nodes, gpusPerNode));
      }
      if (!(pricePerHour >= 0 && pricePerHour < Double.POSITIVE_INFINITY)) {
        throw new IllegalArgumentException(
            "a node's price in an hour must be a number of at least 0, not " + pricePerHour);
      }
      if (racks < 0 || racks > nodes) {
        throw new IllegalArgumentException(
            "%d nodes stand in at least one rack and at most as many as there are nodes, not %d"
                .formatted(nodes, racks));
      }
    }

    /** Permanent nodes without a price, whose racks nobody knows. */
    public Group(String gpuType, int nodes, int gpusPerNode) {
      this(gpuType, nodes, gpusPerNode, 0, false, 0);
    }

    /** The same with another number of nodes. */
    public Group of(int others) {
      return new Group(gpuType, others, gpusPerNode, pricePerHour, spot, Math.min(racks, others));
    }

    /** Replicas of so many GPUs of one node that all its nodes can hold. */
    public int replicas(int slotsPerReplica) {
      return nodes * (gpusPerNode / slotsPerReplica);
    }

    /** GPUs of all its nodes. */
    public int gpus() {
      return nodes * gpusPerNode;
    }

    private Node node(int index, String name) {
      String prefix = name.substring(0, name.lastIndexOf('-'));
      String rack =
          racks == 0 ? "" : "%s-rack-%d".formatted(prefix, (int) ((long) index * racks / nodes));
      return new Node(name, gpuType, gpusPerNode, rack, spot, pricePerHour);
    }
  }

  public ClusterShape {
    groups = List.copyOf(groups);
    if (groups.isEmpty()) {
      throw new IllegalArgumentException("a cluster needs at least one node");
    }
    groups.stream()
        .mapToLong(group -> (long) group.nodes() * group.gpusPerNode())
        .reduce(Math::addExact)
        .ifPresent(gpus -> {
          if (gpus > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a cluster of %d GPUs is too large".formatted(gpus));
          }
        });
  }

  /**
   * Parses {@code 16x4} (nodes, GPUs on each), by GPU type {@code aws=6x4,rtx=3x8}, and what else
   * is known of each group: {@code aws=6x4:price=3.5:spot,aws=2x4:price=12.24:racks=2}.
   *
   * @throws IllegalArgumentException with what is wrong, where, and how it should look
   */
  public static ClusterShape parse(String text) {
    return new ClusterText(text).read();
  }

  /** Every node; names sort in this order within a GPU type. */
  public List<Node> nodes() {
    Map<String, Integer> count = new HashMap<>();
    groups.forEach(group -> count.merge(group.gpuType(), group.nodes(), Integer::sum));
    Map<String, Integer> named = new HashMap<>();
    List<Node> nodes = new ArrayList<>();
    for (Group group : groups) {
      String prefix = group.gpuType().isEmpty() ? "node" : group.gpuType();
      int digits = String.valueOf(count.getOrDefault(group.gpuType(), 1) - 1).length();
      int first = named.getOrDefault(group.gpuType(), 0);
      for (int n = 0; n < group.nodes(); n++) {
        nodes.add(group.node(n, (prefix + "-%0" + digits + "d").formatted(first + n)));
      }
      named.put(group.gpuType(), first + group.nodes());
    }
    return nodes;
  }

  /** GPUs of all nodes. */
  public int gpus() {
    return groups.stream().mapToInt(Group::gpus).sum();
  }

  /** Whether any group says more than its type and its size. */
  public boolean hasAttributes() {
    return groups.stream()
        .anyMatch(group -> group.pricePerHour() > 0 || group.spot() || group.racks() > 0);
  }

  /** Whether any node has a price. */
  public boolean priced() {
    return groups.stream().anyMatch(group -> group.pricePerHour() > 0);
  }

  /** The same nodes in groups that differ in GPU type and size only. */
  public ClusterShape alike() {
    record Kind(String gpuType, int gpusPerNode) {}
    SequencedMap<Kind, Integer> nodes = new LinkedHashMap<>();
    groups.forEach(group ->
        nodes.merge(new Kind(group.gpuType(), group.gpusPerNode()), group.nodes(), Integer::sum));
    List<Group> merged = new ArrayList<>();
    nodes.forEach(
        (kind, count) -> merged.add(new Group(kind.gpuType(), count, kind.gpusPerNode())));
    return new ClusterShape(merged);
  }

  /** The form that {@link #parse} reads. */
  @Override
  public String toString() {
    return ClusterText.of(this);
  }
}
