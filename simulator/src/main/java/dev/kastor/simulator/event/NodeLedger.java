package dev.kastor.simulator.event;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Node;
import dev.kastor.simulator.replay.ClusterShape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which nodes there are and who sits on them; refuses more of a node than it has slots, whatever
 * the loop has checked before. Owned by one simulation.
 */
final class NodeLedger {
  private static final class Entry {
    final Node node;
    final int rankInGroup;
    final double slowdown;
    final List<EventJob> residents = new ArrayList<>();
    boolean present;
    boolean up = true;
    int used;
    int distributed;

    Entry(Node node, int rankInGroup, boolean present, double slowdown) {
      this.node = node;
      this.slowdown = slowdown;
      this.rankInGroup = rankInGroup;
      this.present = present;
    }
  }

  private final List<Entry> entries = new ArrayList<>();
  private final Map<String, Integer> index = new HashMap<>();
  private List<Node> available = List.of();
  private Set<String> availableNames = Set.of();
  private int availableSlots;
  private double moneyPerHour;

  /** The nodes of {@code largest}, of which those of {@code initial} are there at first. */
  NodeLedger(ClusterShape initial, ClusterShape largest, Stragglers stragglers, long seed) {
    Map<String, Integer> count = new HashMap<>();
    initial.groups().forEach(group -> count.merge(group.gpuType(), group.nodes(), Integer::sum));
    Map<String, Integer> rank = new HashMap<>();
    List<Node> all = largest.nodes();
    double[] slowdowns = stragglers.slowdowns(all.size(), seed);
    for (Node node : all) {
      int inGroup = rank.merge(node.gpuType(), 1, Integer::sum) - 1;
      index.put(node.name(), entries.size());
      entries.add(
          new Entry(
              node,
              inGroup,
              inGroup < count.getOrDefault(node.gpuType(), 0),
              slowdowns[entries.size()]));
    }
    refresh();
  }

  /** These nodes and no others, none of which comes or goes, and each as slow as it is known. */
  NodeLedger(List<Node> all) {
    for (Node node : all) {
      index.put(node.name(), entries.size());
      entries.add(new Entry(node, entries.size(), true, node.slowdown()));
    }
    refresh();
  }

  /** Nodes that can hold replicas now; the same list until that changes. */
  List<Node> available() {
    return available;
  }

  /** Names of all nodes that there may ever be. */
  Set<String> names() {
    return Collections.unmodifiableSet(index.keySet());
  }

  /** Names of the nodes that can hold replicas now. */
  Set<String> availableNames() {
    return availableNames;
  }

  /** Slots of those nodes. */
  int availableSlots() {
    return availableSlots;
  }

  /** All nodes that there may ever be. */
  int size() {
    return entries.size();
  }

  String gpuType(Allocation allocation) {
    return allocation.isEmpty() ? "" : entry(allocation.node(0)).node.gpuType();
  }

  /** Speed of the slowest of an allocation's nodes, relative to what such nodes have. */
  double pace(Allocation allocation) {
    double slowdown = 1;
    for (int i = 0; i < allocation.nodes(); i++) {
      slowdown = Math.max(slowdown, entry(allocation.node(i)).slowdown);
    }
    return 1 / slowdown;
  }

  /** Takes a node away or brings it back; whoever sat there is returned and must be moved off. */
  List<EventJob> setUp(int node, boolean up) {
    entries.get(node).up = up;
    refresh();
    return up ? List.of() : List.copyOf(entries.get(node).residents);
  }

  /** Nodes of a group that there are, those that failed included. */
  int present(String gpuType) {
    return (int)
        entries.stream()
            .filter(entry -> entry.present && entry.node.gpuType().equals(gpuType))
            .count();
  }

  /** The last nodes of a GPU type leave, or the first that are away come; returns who sat there. */
  List<EventJob> resize(String gpuType, int nodes) {
    List<Entry> leave = new ArrayList<>();
    for (Entry entry : entries) {
      if (entry.node.gpuType().equals(gpuType)) {
        boolean stays = entry.rankInGroup < nodes;
        if (entry.present && !stays) {
          leave.add(entry);
        }
        entry.present = stays;
      }
    }
    return left(leave);
  }

  /** As {@link #resize}, but those leave first that hold the least, of equals the last. */
  List<EventJob> scale(String gpuType, int nodes) {
    List<Entry> present = new ArrayList<>();
    List<Entry> away = new ArrayList<>();
    for (Entry entry : entries) {
      if (entry.node.gpuType().equals(gpuType)) {
        (entry.present ? present : away).add(entry);
      }
    }
    away.stream().limit(Math.max(0, nodes - present.size())).forEach(entry -> entry.present = true);
    List<Entry> leave =
        present.stream()
            .sorted(
                Comparator.comparingInt((Entry entry) -> entry.used)
                    .thenComparing(Comparator.comparingInt((Entry e) -> e.rankInGroup).reversed()))
            .limit(Math.max(0, present.size() - nodes))
            .toList();
    leave.forEach(entry -> entry.present = false);
    return left(leave);
  }

  private List<EventJob> left(List<Entry> gone) {
    refresh();
    return gone.stream().flatMap(entry -> entry.residents.stream()).distinct().toList();
  }

  private void refresh() {
    available =
        entries.stream()
            .filter(entry -> entry.present && entry.up)
            .map(entry -> entry.node)
            .toList();
    availableNames = available.stream().map(Node::name).collect(Collectors.toUnmodifiableSet());
    availableSlots = available.stream().mapToInt(Node::slots).sum();
    moneyPerHour = available.stream().mapToDouble(Node::pricePerHour).sum();
  }

  /** What the nodes that are up cost in an hour. */
  double moneyPerHour() {
    return moneyPerHour;
  }

  /** What the slots of an allocation cost in an hour: their share of their nodes' prices. */
  double moneyPerHour(Allocation allocation) {
    double money = 0;
    for (int i = 0; i < allocation.nodes(); i++) {
      Node node = entry(allocation.node(i)).node;
      money += node.pricePerHour() * allocation.slots(i) / node.slots();
    }
    return money;
  }

  /** Whether each node that there may ever be may be taken away at any time. */
  List<Boolean> preemptible() {
    return entries.stream().map(entry -> entry.node.preemptible()).toList();
  }

  /** Frees what the job holds. */
  void remove(EventJob job) {
    Allocation allocation = job.allocation();
    for (int i = 0; i < allocation.nodes(); i++) {
      Entry entry = entry(allocation.node(i));
      entry.residents.remove(job);
      entry.used -= allocation.slots(i);
      entry.distributed -= allocation.nodes() > 1 ? 1 : 0;
    }
  }

  /** Takes what the job holds. */
  void add(EventJob job) {
    Allocation allocation = job.allocation();
    for (int i = 0; i < allocation.nodes(); i++) {
      Entry entry = entry(allocation.node(i));
      entry.residents.add(job);
      entry.used += allocation.slots(i);
      entry.distributed += allocation.nodes() > 1 ? 1 : 0;
      if (entry.used > entry.node.slots() || !entry.present || !entry.up) {
        throw new IllegalStateException(
            "of node %s %d slots are held and it has %d%s"
                .formatted(
                    entry.node.name(),
                    entry.used,
                    entry.node.slots(),
                    entry.present && entry.up ? "" : " and is away"));
      }
    }
  }

  /** Whether another job over several nodes shares a node with this one, which is one too. */
  boolean disturbed(Allocation allocation) {
    if (allocation.nodes() < 2) {
      return false;
    }
    for (int i = 0; i < allocation.nodes(); i++) {
      if (entry(allocation.node(i)).distributed > 1) {
        return true;
      }
    }
    return false;
  }

  /** Everyone on the nodes of an allocation. */
  List<EventJob> neighbours(Allocation allocation) {
    List<EventJob> neighbours = new ArrayList<>();
    for (int i = 0; i < allocation.nodes(); i++) {
      neighbours.addAll(entry(allocation.node(i)).residents);
    }
    return neighbours;
  }

  private Entry entry(String node) {
    Integer at = index.get(node);
    if (at == null) {
      throw new IllegalStateException("the cluster has no node " + node);
    }
    return entries.get(at);
  }
}
