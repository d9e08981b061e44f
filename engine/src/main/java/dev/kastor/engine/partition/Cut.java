package dev.kastor.engine.partition;

import dev.kastor.engine.graph.Body;
import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.placement.Device;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The nodes of one body, or of the whole graph, on each device. */
final class Cut {
  private final Partitioner all;

  /** What a body is handed and does not carry, with the number of the operand. */
  private final Map<Node, Integer> handed;

  private final Map<Device, SortedMap<Integer, Node>> parameters = new HashMap<>();
  private final Map<Device, List<Node>> happens = new HashMap<>();
  private final Map<Device, Map<Node, Node>> signals = new HashMap<>();

  Cut(Partitioner all, Map<Node, Integer> handed) {
    this.all = all;
    this.handed = handed;
  }

  /** A cut of a body whose parameters from a number on are the same in all iterations. */
  static Cut of(Partitioner all, Body body, int carried) {
    Map<Node, Integer> handed = new HashMap<>();
    for (int i = carried; i < body.parameters().size(); i++) {
      handed.put(body.parameters().get(i), i);
    }
    return new Cut(all, handed);
  }

  /** Takes in all that a body computes. */
  void visit(Body body) {
    new Graph(body.results())
        .topological(new HashSet<>(body.parameters())::contains)
        .forEach(this::visit);
  }

  /** What takes place on a device without anything there that uses it. */
  List<Node> happens(Device device) {
    return happens.getOrDefault(device, List.of());
  }

  /** Says that something takes place on a device. */
  void happens(Device device, Node node) {
    happens.computeIfAbsent(device, _ -> new ArrayList<>()).add(node);
  }

  /** What a device is handed, by the number of the operand. */
  SortedMap<Integer, Node> parameters(Device device) {
    return parameters.computeIfAbsent(device, _ -> new TreeMap<>());
  }

  /** Puts a node where it is computed; it comes after all that it needs. */
  void visit(Node node) {
    if (all.isConstant(node)) {
      return;
    }
    switch (node.op()) {
      case Control.Part part -> visitPart(node, part.index());
      case Control.While _, Control.Cond _ -> new Spreading(all, this, node).spread();
      case Control.Recorded recorded -> {
        if (!all.isEverywhere(node)) {
          Device home = all.home(node);
          all.put(home, node, recall(home, node, recorded));
        }
      }
      default -> {
        Device home = all.home(node);
        all.put(home, node, node.isLeaf() ? node : cloned(home, node));
      }
    }
  }

  private void visitPart(Node node, int index) {
    Node whole = node.input(0);
    if (all.spread(whole) == null) {
      Device home = all.home(whole);
      Node clone = on(home, whole);
      all.put(home, node, clone == whole ? node : clone.part(index));
    }
  }

  /** A node with what it needs on a device. */
  private Node cloned(Device device, Node node) {
    List<Node> inputs = node.inputs().stream().map(input -> on(device, input)).toList();
    List<Node> after = after(device, node.after());
    return inputs.equals(node.inputs()) && after.equals(node.after())
        ? node
        : Node.of(node.op(), inputs, after);
  }

  /** The value of a node on a device, brought there if it has to be. */
  Node on(Device device, Node node) {
    Node known = all.clone(device, node);
    if (known == null) {
      known = make(device, node);
      all.put(device, node, known);
    }
    return known;
  }

  private Node make(Device device, Node node) {
    Integer number = handed.get(node);
    if (number != null) {
      return parameters(device).computeIfAbsent(number, _ -> Node.input("handed", node.type()));
    }
    if (node.op() instanceof Control.Part part) {
      Spread spread = all.spread(node.input(0));
      if (spread != null) {
        Device home = spread.has(device, part.index()) ? device : all.home(node);
        Node result = spread.result(home, part.index());
        return home.equals(device) ? result : bring(result, home, device);
      }
    }
    if (node.op() instanceof Control.Recorded recorded && all.isEverywhere(node)) {
      return recall(device, node, recorded);
    }
    Device home = all.home(node);
    if (home.equals(device)) {
      throw new IllegalStateException(node + " is not on " + device + ".");
    }
    return bring(on(home, node), home, device);
  }

  private Node recall(Device device, Node node, Control.Recorded recorded) {
    Node inner = all.inner(device, recorded.inner());
    List<Node> inputs = node.inputs().stream().map(input -> on(device, input)).toList();
    return Node.of(new Control.Recorded(inner), inputs, after(device, node.after()));
  }

  private Node bring(Node value, Device from, Device to) {
    Transfer transfer = all.transfer(from, to, value.type(), value);
    happens(from, Node.of(new Transfer.Send(transfer), value));
    return Node.of(new Transfer.Receive(transfer));
  }

  /** What a node on a device comes after, where others are elsewhere. */
  List<Node> after(Device device, List<Node> earlier) {
    List<Node> after = new ArrayList<>();
    for (Node node : earlier) {
      Spread spread = all.spread(node);
      if (spread != null) {
        spread.nodes().forEach((home, part) -> after.add(signal(home, part, device)));
      } else if (handed.containsKey(node) || all.clone(device, node) != null) {
        after.add(on(device, node));
      } else {
        Device home = all.home(node);
        after.add(signal(home, on(home, node), device));
      }
    }
    return after;
  }

  /** Something on a device that is there when a node has taken place on another. */
  private Node signal(Device from, Node node, Device to) {
    if (from.equals(to)) {
      return node;
    }
    return signals
        .computeIfAbsent(to, _ -> new HashMap<>())
        .computeIfAbsent(
            node,
            _ -> {
              Transfer transfer = all.transfer(from, to, Type.f32(), node);
              happens(
                  from,
                  Node.of(new Transfer.Send(transfer), List.of(Node.constant(0)), List.of(node)));
              return Node.of(new Transfer.Receive(transfer));
            });
  }
}
