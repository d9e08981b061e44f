package dev.kastor.engine.partition;

import dev.kastor.engine.graph.Body;
import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.placement.Device;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Makes one branch or loop for each device that has a part in it.
 *
 * <p>Each carries what it has at home and is handed what else it needs from outside. What a device
 * sends takes place before the first result of its body is there.
 */
final class Spreading {
  /** In the place of a result where a device has none: bodies have at least one. */
  private static final int NONE = -1;

  /** What one device has of it: results, by their numbers, of the first body and the second. */
  private static final class Share {
    final Device device;
    final List<Integer> numbers = new ArrayList<>();
    final List<Node> first = new ArrayList<>();
    final List<Node> second = new ArrayList<>();

    Share(Device device) {
      this.device = device;
    }
  }

  /** What the node on one device is made of. */
  private record Making(Control op, List<Node> inputs, List<Node> after) {}

  private final Partitioner all;
  private final Cut outer;
  private final Node node;
  private final SequencedMap<Device, Making> makings = new LinkedHashMap<>();
  private final Map<Device, List<Integer>> results = new HashMap<>();

  Spreading(Partitioner all, Cut outer, Node node) {
    this.all = all;
    this.outer = outer;
    this.node = node;
  }

  void spread() {
    switch (node.op()) {
      case Control.While loop -> spread(loop);
      case Control.Cond cond -> spread(cond);
      default -> throw new IllegalArgumentException(node + " has no body.");
    }
    int depth = 0;
    for (Making making : makings.values()) {
      for (Node input : making.inputs) {
        depth = Math.max(depth, all.depth(input) + 1);
      }
      for (Node earlier : making.after) {
        depth = Math.max(depth, all.depth(earlier) + 1);
      }
    }
    SequencedMap<Device, Node> nodes = new LinkedHashMap<>();
    for (var entry : makings.entrySet()) {
      Making making = entry.getValue();
      List<Node> after = new ArrayList<>(making.after);
      if (makings.size() > 1) {
        after.add(Node.of(new Depth(depth)));
      }
      Node part = Node.of(making.op, making.inputs, after);
      int _ = all.depth(part);
      nodes.put(entry.getKey(), part);
      outer.happens(entry.getKey(), part);
    }
    all.put(node, new Spread(nodes, results));
  }

  private void spread(Control.While loop) {
    Body body = loop.body();
    Body condition = loop.condition();
    Cut repeated = Cut.of(all, body, loop.carried());
    Cut tested = Cut.of(all, condition, loop.carried());
    for (int i = 0; i < loop.carried(); i++) {
      Device home = all.home(body.parameters().get(i));
      for (Node parameter : List.of(body.parameters().get(i), condition.parameters().get(i))) {
        all.put(home, parameter, Node.input("carried", parameter.type()));
      }
    }
    repeated.visit(body);
    tested.visit(condition);
    List<Share> shares = new ArrayList<>();
    // All values are brought before any body is closed: each may send to the others.
    for (Device device : all.devices(node)) {
      Share share = new Share(device);
      share.first.add(tested.on(device, condition.results().getFirst()));
      for (int i = 0; i < loop.carried(); i++) {
        if (all.home(body.parameters().get(i)).equals(device)) {
          share.numbers.add(i);
          share.second.add(repeated.on(device, body.results().get(i)));
        }
      }
      shares.add(share);
    }
    shares.forEach(share -> close(share, loop, repeated, tested));
  }

  private void close(Share share, Control.While loop, Cut repeated, Cut tested) {
    Device device = share.device;
    List<Node> repeatedParameters = new ArrayList<>();
    List<Node> testedParameters = new ArrayList<>();
    List<Node> inputs = new ArrayList<>();
    List<Node> next = share.second;
    List<Integer> here = share.numbers;
    for (int number : here) {
      repeatedParameters.add(repeated.on(device, loop.body().parameters().get(number)));
      testedParameters.add(tested.on(device, loop.condition().parameters().get(number)));
      inputs.add(outer.on(device, node.input(number)));
    }
    if (here.isEmpty()) {
      here.add(NONE);
      Node same = Node.input("none", Type.f32());
      repeatedParameters.add(same);
      testedParameters.add(Node.input("none", Type.f32()));
      inputs.add(Node.constant(0));
      next.add(same);
    }
    int carried = here.size();
    for (int number : handed(device, repeated, tested)) {
      repeatedParameters.add(parameter(device, repeated, number));
      testedParameters.add(parameter(device, tested, number));
      inputs.add(outer.on(device, node.input(number)));
    }
    here.add(loop.countPart());
    here.add(loop.historyPart());
    results.put(device, here);
    List<Node> decision = first(share.first, tested.happens(device));
    Control.While part =
        new Control.While(
            new Body(testedParameters, decision),
            new Body(repeatedParameters, first(next, repeated.happens(device))),
            carried,
            loop.parallelIterations());
    makings.put(device, new Making(part, inputs, outer.after(device, node.after())));
  }

  private void spread(Control.Cond cond) {
    Cut yes = Cut.of(all, cond.yes(), 0);
    Cut no = Cut.of(all, cond.no(), 0);
    yes.visit(cond.yes());
    no.visit(cond.no());
    int count = cond.yes().results().size();
    List<Share> shares = new ArrayList<>();
    for (Device device : all.devices(node)) {
      Share share = new Share(device);
      for (int i = 0; i < count; i++) {
        if (all.home(node.part(i)).equals(device)) {
          share.numbers.add(i);
          share.first.add(yes.on(device, cond.yes().results().get(i)));
          share.second.add(no.on(device, cond.no().results().get(i)));
        }
      }
      if (share.numbers.isEmpty()) {
        share.numbers.add(NONE);
        share.first.add(Node.constant(0));
        share.second.add(Node.constant(0));
      }
      share.numbers.add(count);
      results.put(device, share.numbers);
      shares.add(share);
    }
    shares.forEach(share -> close(share, yes, no));
  }

  private void close(Share share, Cut yes, Cut no) {
    Device device = share.device;
    List<Node> yesParameters = new ArrayList<>();
    List<Node> noParameters = new ArrayList<>();
    List<Node> inputs = new ArrayList<>(List.of(outer.on(device, node.input(0))));
    for (int number : handed(device, yes, no)) {
      yesParameters.add(parameter(device, yes, number));
      noParameters.add(parameter(device, no, number));
      inputs.add(outer.on(device, node.input(1 + number)));
    }
    Control.Cond part =
        new Control.Cond(
            new Body(yesParameters, first(share.first, yes.happens(device))),
            new Body(noParameters, first(share.second, no.happens(device))));
    makings.put(device, new Making(part, inputs, outer.after(device, node.after())));
  }

  /** The numbers of what either body is handed on a device. */
  private static SortedSet<Integer> handed(Device device, Cut one, Cut other) {
    SortedSet<Integer> numbers = new TreeSet<>(one.parameters(device).keySet());
    numbers.addAll(other.parameters(device).keySet());
    return numbers;
  }

  private Node parameter(Device device, Cut cut, int number) {
    SortedMap<Integer, Node> known = cut.parameters(device);
    int input = node.op() instanceof Control.Cond ? 1 + number : number;
    return known.computeIfAbsent(number, _ -> Node.input("handed", node.input(input).type()));
  }

  /** Values of which the first is there only after something has taken place. */
  private static List<Node> first(List<Node> values, List<Node> after) {
    if (after.isEmpty()) {
      return values;
    }
    List<Node> later = new ArrayList<>(values);
    Node value = values.getFirst();
    later.set(0, Node.of(new Primitive.Reshape(value.shape()), List.of(value), after));
    return later;
  }
}
