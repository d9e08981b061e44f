package dev.kastor.engine.placement;

import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Node;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Places nodes one after another, each on the device that would be done with it first, what its
 * inputs need on their way included (Abadi et al. 2016, section 3.2.1).
 *
 * <p>What a loop carries from iteration to iteration is on one device. What is supplied is where it
 * is used first. The same graph is always placed the same.
 */
public final class Placer {
  private final List<Device> devices;
  private final Costs costs;

  /** Those for what no place is said of. */
  private final List<Device> otherwise;

  /**
   * A placer for these devices.
   *
   * @param devices at least one; the first is preferred among equals
   */
  public Placer(List<Device> devices, Costs costs) {
    this(devices, costs, devices);
  }

  /**
   * A placer that has a place for what nothing else is said of.
   *
   * @param devices at least one; the first is preferred among equals
   * @param otherwise one of the devices
   */
  public Placer(List<Device> devices, Costs costs, Device otherwise) {
    this(devices, costs, List.of(otherwise));
  }

  private Placer(List<Device> devices, Costs costs, List<Device> otherwise) {
    if (devices.isEmpty()) {
      throw new IllegalArgumentException("A graph needs a device.");
    }
    this.devices = List.copyOf(devices);
    this.costs = costs;
    this.otherwise = List.copyOf(otherwise);
    if (!devices.containsAll(otherwise)) {
      throw new IllegalArgumentException("%s is none of %s.".formatted(otherwise, devices));
    }
  }

  /**
   * Places all that some nodes need.
   *
   * @param known nodes whose values are given, so that what lies behind them is not needed
   * @throws IllegalArgumentException if constraints exclude each other or name no device
   */
  public Placement place(List<Node> wanted, Set<Node> known) {
    Anatomy anatomy = new Anatomy(wanted, known);
    Groups groups = new Groups(devices);
    for (Node node : anatomy.order()) {
      groups.add(node);
      join(node, anatomy, groups);
    }
    Map<Node, Device> chosen = new Simulation(anatomy, groups).run();
    Map<Node, Device> byNode = new HashMap<>();
    for (Node node : anatomy.order()) {
      byNode.put(node, chosen.getOrDefault(groups.leader(node), devices.getFirst()));
    }
    return new Placement(devices, anatomy, byNode);
  }

  private static void join(Node node, Anatomy anatomy, Groups groups) {
    switch (node.op()) {
      case Control.Part _ -> anatomy.anchor(node).ifPresent(anchor -> groups.join(anchor, node));
      case Control.Recorded recorded ->
          anatomy.anchor(recorded.inner()).ifPresent(anchor -> groups.join(anchor, node));
      case Control.Group _ ->
          node.after().stream()
              .flatMap(earlier -> anatomy.anchor(earlier).stream())
              .findFirst()
              .ifPresent(anchor -> groups.join(anchor, node));
      case Control.While loop -> {
        List<Node> carried = loop.body().parameters().subList(0, loop.carried());
        for (int i = 0; i < carried.size(); i++) {
          Node parameter = carried.get(i);
          groups.join(parameter, loop.condition().parameters().get(i));
          anatomy
              .computed(loop.body().results().get(i))
              .ifPresent(result -> groups.join(parameter, result));
        }
      }
      case Control.Cond cond -> {
        for (int i = 0; i < cond.yes().results().size(); i++) {
          Optional<Node> yes = anatomy.computed(cond.yes().results().get(i));
          Optional<Node> no = anatomy.computed(cond.no().results().get(i));
          if (yes.isPresent() && no.isPresent()) {
            groups.join(yes.get(), no.get());
          }
        }
      }
      default -> {}
    }
  }

  /** Goes through a run as if nodes took as long as they are estimated to. */
  private final class Simulation {
    private final Anatomy anatomy;
    private final Groups groups;
    private final Map<Node, Device> chosen = new HashMap<>();
    private final Map<Node, Double> finished = new HashMap<>();
    private final Map<Device, Double> free = new HashMap<>();

    Simulation(Anatomy anatomy, Groups groups) {
      this.anatomy = anatomy;
      this.groups = groups;
    }

    Map<Node, Device> run() {
      for (Node node : anatomy.order()) {
        boolean holds = node.op() instanceof Control.While || node.op() instanceof Control.Cond;
        if (!anatomy.isGiven(node) && !holds) {
          place(node);
        }
      }
      for (Node node : anatomy.order()) {
        Node leader = groups.leader(node);
        chosen.computeIfAbsent(leader, _ -> groups.allowed(leader).iterator().next());
      }
      return chosen;
    }

    private void place(Node node) {
      Node leader = groups.leader(node);
      Device before = chosen.get(leader);
      Collection<Device> candidates = before == null ? candidates(leader) : Set.of(before);
      Device best = candidates.iterator().next();
      double least = Double.POSITIVE_INFINITY;
      for (Device device : candidates) {
        double end = start(node, device) + costs.seconds(node, device);
        if (end < least) {
          least = end;
          best = device;
        }
      }
      chosen.put(leader, best);
      finished.put(node, least);
      free.put(best, least);
      for (Node input : node.inputs()) {
        Optional<Node> given = anatomy.anchor(input).filter(anatomy::isGiven).map(groups::leader);
        if (given.isPresent() && groups.allowed(given.get()).contains(best)) {
          chosen.putIfAbsent(given.get(), best);
        }
      }
    }

    private Collection<Device> candidates(Node leader) {
      Set<Device> allowed = groups.allowed(leader);
      return allowed.size() < devices.size() ? allowed : otherwise;
    }

    private double start(Node node, Device device) {
      double start = free.getOrDefault(device, 0.0);
      for (Node input : node.needs()) {
        Optional<Node> anchor = anatomy.anchor(input);
        if (anchor.isEmpty()) {
          continue;
        }
        Device from = chosen.get(groups.leader(anchor.get()));
        double way = from == null ? 0 : costs.seconds(RoughCosts.bytes(input), from, device);
        start = Math.max(start, finished.getOrDefault(anchor.get(), 0.0) + way);
      }
      return start;
    }
  }
}
