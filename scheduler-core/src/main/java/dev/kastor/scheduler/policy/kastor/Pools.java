package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * Nodes that are alike to a job: of one GPU type, price and permanence. Immutable.
 *
 * @param nodes all nodes of the cluster, by index
 * @param poolOf the pool of each node
 * @param kinds what the nodes of each pool have in common
 * @param slots slots of each pool
 * @param nodeSlots slots of the largest node of each pool
 * @param nodeCounts nodes of each pool
 * @param indexByName where each node is
 */
@SuppressWarnings("ArrayRecordComponent") // read by every look at a node, never compared
record Pools(
    List<Node> nodes,
    int[] poolOf,
    List<Kind> kinds,
    int[] slots,
    int[] nodeSlots,
    int[] nodeCounts,
    Map<String, Integer> indexByName) {
  /** What the nodes of a pool have in common. */
  record Kind(String gpuType, boolean preemptible, double pricePerSlotHour) {}

  static Pools of(List<Node> nodes) {
    SequencedMap<Kind, Integer> indexes = new LinkedHashMap<>();
    Map<String, Integer> byName = HashMap.newHashMap(nodes.size());
    int[] poolOf = new int[nodes.size()];
    for (int n = 0; n < poolOf.length; n++) {
      Node node = nodes.get(n);
      double price = node.slots() == 0 ? 0 : node.pricePerHour() / node.slots();
      Kind kind = new Kind(node.gpuType(), node.preemptible(), price);
      poolOf[n] = indexes.computeIfAbsent(kind, added -> indexes.size());
      byName.put(node.name(), n);
    }
    int[] slots = new int[indexes.size()];
    int[] largest = new int[indexes.size()];
    int[] counts = new int[indexes.size()];
    for (int n = 0; n < poolOf.length; n++) {
      slots[poolOf[n]] += nodes.get(n).slots();
      largest[poolOf[n]] = Math.max(largest[poolOf[n]], nodes.get(n).slots());
      counts[poolOf[n]]++;
    }
    return new Pools(
        nodes, poolOf, new ArrayList<>(indexes.keySet()), slots, largest, counts, byName);
  }

  int count() {
    return slots.length;
  }

  String gpuType(int pool) {
    return kinds.get(pool).gpuType();
  }
}
