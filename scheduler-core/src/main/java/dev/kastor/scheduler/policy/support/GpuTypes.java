package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Nodes of a cluster by the type of their GPUs. */
public final class GpuTypes {
  private GpuTypes() {}

  /** In the order in which the types first appear; within a type in the cluster's order. */
  public static SequencedMap<String, List<Node>> nodes(Snapshot snapshot) {
    SequencedMap<String, List<Node>> types = new LinkedHashMap<>();
    for (Node node : snapshot.nodes()) {
      types.computeIfAbsent(node.gpuType(), type -> new ArrayList<>()).add(node);
    }
    return types;
  }

  /** Slots of the largest node. */
  public static int largest(List<Node> nodes) {
    return nodes.stream().mapToInt(Node::slots).max().orElse(0);
  }

  /**
   * Replicas on as few nodes as possible: full ones and what remains.
   *
   * @param perNode replicas that a node can hold, at least 1
   */
  public static int[] packed(int replicas, int perNode) {
    int[] counts = new int[Math.ceilDiv(replicas, perNode)];
    for (int n = 0; n < counts.length; n++) {
      counts[n] = Math.min(perNode, replicas - n * perNode);
    }
    return counts;
  }
}
