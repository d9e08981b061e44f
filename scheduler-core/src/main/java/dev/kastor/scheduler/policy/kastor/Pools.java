package dev.kastor.scheduler.policy.kastor;

import dev.kastor.plugin.Options;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Node;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * Nodes that are alike to a job: of one GPU type, price, permanence and speed. Immutable.
 *
 * @param nodes all nodes of the cluster, by index
 * @param poolOf the pool of each node
 * @param kinds what the nodes of each pool have in common
 * @param slots slots of each pool
 * @param beyondDevices slots of each pool beyond its devices, where it is one node that has fewer
 *     devices than slots; of several such nodes the packing would fill one and leave another
 * @param nodeSlots slots of the largest node of each pool
 * @param nodeCounts nodes of each pool
 * @param nodesBySlots nodes of each pool by the slots that they have
 * @param indexByName where each node is
 * @param money what a slot of each pool costs, in seconds of one job's time per slot second: the
 *     slot's price over what that time is worth; 0 where money is no object
 * @param favour factor by which a slot's use is valued, so that the cheaper of equal pools wins; 1
 *     for the cheapest
 * @param interruptions how often in a second a node of each pool is expected to be taken away
 */
@SuppressWarnings("ArrayRecordComponent") // read by every look at a node, never compared
record Pools(
    List<Node> nodes,
    int[] poolOf,
    List<Kind> kinds,
    int[] slots,
    int[] beyondDevices,
    int[] nodeSlots,
    int[] nodeCounts,
    int[][] nodesBySlots,
    Map<String, Integer> indexByName,
    double[] money,
    double[] favour,
    double[] interruptions) {
  private static final double SECONDS_PER_DAY = 86_400;

  /** Pools that differ by less than this share are equals, between which the price decides. */
  private static final double EQUAL = 1e-6;

  /** What the nodes of a pool have in common. */
  record Kind(String gpuType, boolean preemptible, double pricePerSlotHour, double slowdown) {}

  static Pools of(List<Node> nodes, Options options) {
    double jobHourValue = options.get(KastorPlugin.JOB_HOUR_VALUE);
    double interruptionsPerDay = options.get(KastorPlugin.INTERRUPTIONS_PER_DAY);
    SequencedMap<Kind, Integer> indexes = new LinkedHashMap<>();
    Map<String, Integer> byName = HashMap.newHashMap(nodes.size());
    int[] poolOf = new int[nodes.size()];
    Map<Kind, Integer> sizes = sizes(nodes);
    for (int n = 0; n < poolOf.length; n++) {
      Node node = nodes.get(n);
      int size = sizes.getOrDefault(ofWhole(node), 0);
      double price = size == 0 ? 0 : node.pricePerHour() / size;
      Kind kind = new Kind(node.gpuType(), node.preemptible(), price, node.slowdown());
      poolOf[n] = indexes.computeIfAbsent(kind, added -> indexes.size());
      byName.put(node.name(), n);
    }
    int[] slots = new int[indexes.size()];
    int[] beyondDevices = new int[indexes.size()];
    int[] largest = new int[indexes.size()];
    int[] counts = new int[indexes.size()];
    for (int n = 0; n < poolOf.length; n++) {
      slots[poolOf[n]] += nodes.get(n).slots();
      beyondDevices[poolOf[n]] = nodes.get(n).slots() - nodes.get(n).devices();
      largest[poolOf[n]] = Math.max(largest[poolOf[n]], nodes.get(n).slots());
      counts[poolOf[n]]++;
    }
    for (int p = 0; p < counts.length; p++) {
      beyondDevices[p] = counts[p] == 1 ? beyondDevices[p] : 0;
    }
    int[][] bySlots = new int[indexes.size()][];
    Arrays.setAll(bySlots, p -> new int[largest[p] + 1]);
    for (int n = 0; n < poolOf.length; n++) {
      bySlots[poolOf[n]][nodes.get(n).slots()]++;
    }
    List<Kind> kinds = new ArrayList<>(indexes.keySet());
    double cheapest = Double.POSITIVE_INFINITY;
    double dearest = 0;
    for (int p = 0; p < slots.length; p++) {
      if (slots[p] > 0) {
        cheapest = Math.min(cheapest, kinds.get(p).pricePerSlotHour());
        dearest = Math.max(dearest, kinds.get(p).pricePerSlotHour());
      }
    }
    double[] money = new double[kinds.size()];
    double[] favour = new double[kinds.size()];
    double[] interruptions = new double[kinds.size()];
    for (int p = 0; p < money.length; p++) {
      Kind kind = kinds.get(p);
      money[p] = kind.pricePerSlotHour() / jobHourValue;
      double above = kind.pricePerSlotHour() - cheapest;
      favour[p] = above > 0 ? 1 - EQUAL * above / dearest : 1;
      interruptions[p] = kind.preemptible() ? interruptionsPerDay / SECONDS_PER_DAY : 0;
    }
    return new Pools(
        nodes,
        poolOf,
        kinds,
        slots,
        beyondDevices,
        largest,
        counts,
        bySlots,
        byName,
        money,
        favour,
        interruptions);
  }

  /** Slots of the largest node of each type and node price: strangers may hold some of others. */
  private static Map<Kind, Integer> sizes(List<Node> nodes) {
    Map<Kind, Integer> sizes = new HashMap<>();
    for (Node node : nodes) {
      if (node.pricePerHour() > 0) {
        sizes.merge(ofWhole(node), node.slots(), Math::max);
      }
    }
    return sizes;
  }

  private static Kind ofWhole(Node node) {
    return new Kind(node.gpuType(), node.preemptible(), node.pricePerHour(), 1);
  }

  /** Whether nodes of any pool may be taken away. */
  boolean interrupted() {
    for (double rate : interruptions) {
      if (rate > 0) {
        return true;
      }
    }
    return false;
  }

  int count() {
    return slots.length;
  }

  /** Replicas of so many slots that the nodes of a pool can hold. */
  int replicas(int pool, int slotsPerReplica) {
    if (slotsPerReplica == 1) {
      return slots[pool];
    }
    int replicas = 0;
    for (int s = slotsPerReplica; s < nodesBySlots[pool].length; s++) {
      replicas += nodesBySlots[pool][s] * (s / slotsPerReplica);
    }
    return replicas;
  }

  /** Whether an allocation lies on more nodes of a pool than could hold it. */
  boolean scattered(Allocation allocation, int pool) {
    int perNode = nodeSlots[pool] / allocation.slotsPerReplica();
    return allocation.nodes() > Math.ceilDiv(allocation.replicas(), perNode);
  }

  /**
   * The pool of what an allocation holds: that of the slowest of its nodes, for which the others
   * wait; -1 where none is known.
   */
  int of(Allocation allocation) {
    int slowest = -1;
    for (int i = 0; i < allocation.nodes(); i++) {
      Integer node = indexByName.get(allocation.node(i));
      if (node == null && i == 0) {
        return -1;
      }
      if (node != null && (slowest < 0 || slowdown(poolOf[node]) > slowdown(slowest))) {
        slowest = poolOf[node];
      }
    }
    return slowest;
  }

  /** Whether an allocation has a node of a pool. */
  boolean touches(Allocation allocation, int pool) {
    for (int i = 0; i < allocation.nodes(); i++) {
      Integer node = indexByName.get(allocation.node(i));
      if (node != null && poolOf[node] == pool) {
        return true;
      }
    }
    return false;
  }

  /** How many times longer steps take on the nodes of a pool than on others of their type. */
  double slowdown(int pool) {
    return kinds.get(pool).slowdown();
  }

  String gpuType(int pool) {
    return kinds.get(pool).gpuType();
  }
}
