package dev.kastor.simulator;

import dev.kastor.scheduler.Node;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The nodes of a simulated cluster, in groups of one kind.
 *
 * @param groups in the order in which policies see them
 */
public record ClusterShape(List<Group> groups) {
  /**
   * Nodes of one kind.
   *
   * @param gpuType empty where there is only one
   * @param nodes how many
   * @param gpusPerNode slots on each
   */
  public record Group(String gpuType, int nodes, int gpusPerNode) {
    public Group {
      if (nodes < 1 || gpusPerNode < 1) {
        throw new IllegalArgumentException(
            "a cluster needs at least one node with one GPU, not %dx%d"
                .formatted(nodes, gpusPerNode));
      }
    }
  }

  private static final Pattern GROUP =
      Pattern.compile("(?:([A-Za-z0-9._-]+)=)?(\\d{1,6})x(\\d{1,4})");

  public ClusterShape {
    groups = List.copyOf(groups);
    Set<String> types = new HashSet<>();
    for (Group group : groups) {
      if (!types.add(group.gpuType())) {
        throw new IllegalArgumentException(
            "GPU type '%s' appears twice in the cluster".formatted(group.gpuType()));
      }
    }
    if (groups.isEmpty()) {
      throw new IllegalArgumentException("a cluster needs at least one node");
    }
  }

  /**
   * Parses {@code 16x4} (nodes, GPUs on each) or {@code aws=6x4,rtx=3x8}.
   *
   * @throws IllegalArgumentException with what is wrong and how it should look
   */
  public static ClusterShape parse(String text) {
    List<Group> groups = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      Matcher matcher = GROUP.matcher(part.strip());
      if (!matcher.matches()) {
        throw new IllegalArgumentException(
            "cluster '%s' must be NODESxGPUS such as 16x4, or TYPE=NODESxGPUS joined by commas such as aws=6x4,rtx=3x8"
                .formatted(text));
      }
      String type = matcher.group(1);
      groups.add(
          new Group(
              type == null ? "" : type,
              Integer.parseInt(matcher.group(2)),
              Integer.parseInt(matcher.group(3))));
    }
    return new ClusterShape(groups);
  }

  /** Every node; names sort in this order within a group. */
  public List<Node> nodes() {
    List<Node> nodes = new ArrayList<>();
    for (Group group : groups) {
      String prefix = group.gpuType().isEmpty() ? "node" : group.gpuType();
      int digits = String.valueOf(group.nodes() - 1).length();
      for (int n = 0; n < group.nodes(); n++) {
        nodes.add(
            new Node(
                (prefix + "-%0" + digits + "d").formatted(n),
                group.gpuType(),
                group.gpusPerNode()));
      }
    }
    return nodes;
  }

  /** GPUs of all nodes. */
  public int gpus() {
    return groups.stream().mapToInt(group -> group.nodes() * group.gpusPerNode()).sum();
  }

  /** The form that {@link #parse} reads. */
  @Override
  public String toString() {
    List<String> parts = new ArrayList<>();
    for (Group group : groups) {
      String type = group.gpuType().isEmpty() ? "" : group.gpuType() + "=";
      parts.add(type + group.nodes() + "x" + group.gpusPerNode());
    }
    return String.join(",", parts);
  }
}
