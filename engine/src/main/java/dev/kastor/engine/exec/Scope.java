package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Effect;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Increment;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Pure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lowers the nodes of one body, or of the whole graph, to steps of one frame.
 *
 * <p>What might have no input that is dead where its body is not taken waits for the pivot, which
 * is.
 */
final class Scope {
  private final Lowering lowering;
  private final FrameDef frame;
  private final @Nullable Supplier<Step> pivot;
  private final Map<Node, Supplier<Step.Edge>> later = new HashMap<>();
  private final Map<Node, Step.Edge> edges = new HashMap<>();
  private final Map<Node, List<Step.@Nullable Edge>> parts = new HashMap<>();
  private final Map<Node, Step> ends = new HashMap<>();
  private final Map<Node, Set<Integer>> usedParts = new HashMap<>();
  private Clusters clusters = new Clusters(List.of());

  /**
   * A scope without nodes.
   *
   * @param pivot live where the body is taken; absent outside bodies
   */
  Scope(Lowering lowering, FrameDef frame, @Nullable Supplier<Step> pivot) {
    this.lowering = lowering;
    this.frame = frame;
    this.pivot = pivot;
  }

  /** Says where the value of a node is. */
  void define(Node node, Step.Edge edge) {
    edges.put(node, edge);
  }

  /** Says where the value of a node will be if something needs it. */
  void defineLater(Node node, Supplier<Step.Edge> edge) {
    later.put(node, edge);
  }

  /** Where the value of a node is. */
  Step.Edge edge(Node node) {
    Supplier<Step.Edge> supplier = later.remove(node);
    if (supplier != null) {
      define(node, supplier.get());
    }
    if (clusters.isConstant(node) && !edges.containsKey(node)) {
      region(List.of(node), Set.of(node));
    }
    Step.Edge edge = edges.get(node);
    if (edge == null) {
      throw new IllegalArgumentException("No value was given for " + node + ".");
    }
    return edge;
  }

  /** The step after which a node has taken place, where its body is taken. */
  Step end(Node node) {
    Step end = ends.get(node);
    if (end == null) {
      List<Step.@Nullable Edge> several = parts.get(node);
      end = new Step(new Work.Pass(), frame, 0, 0);
      for (Step.Edge edge : several == null ? List.of(edge(node)) : several) {
        if (edge != null) {
          end.waitsFor(passed(edge).step());
        }
      }
      ends.put(node, end);
    }
    return end;
  }

  /** The same value from a step of this frame that has no other result. */
  private Step.Edge passed(Step.Edge edge) {
    Step pass = new Step(new Work.Pass(), frame, 1, 1);
    pass.takes(0, edge);
    return new Step.Edge(pass, 0);
  }

  /** Lowers all that some nodes need, beyond those that are given. */
  void lower(List<Node> wanted, Set<Node> given) {
    List<Node> order = new Graph(wanted).topological(given::contains);
    clusters = new Clusters(order);
    Map<Node, Integer> unitOf = new HashMap<>();
    List<List<Node>> units = clusters.units();
    for (int i = 0; i < units.size(); i++) {
      for (Node node : units.get(i)) {
        unitOf.put(node, i);
      }
    }
    Set<Node> seenOutside = new HashSet<>(wanted);
    for (Node node : order) {
      if (node.op() instanceof Control.Part part) {
        usedParts.computeIfAbsent(node.input(0), _ -> new HashSet<>()).add(part.index());
      }
      for (Node need : node.needs()) {
        if (!Objects.equals(unitOf.get(need), unitOf.get(node))) {
          seenOutside.add(need);
        }
      }
    }
    for (List<Node> unit : units) {
      if (unit.getFirst().isComputedWithOthers()) {
        Set<Node> results = new LinkedHashSet<>(unit);
        results.retainAll(seenOutside);
        region(unit, results);
      } else {
        other(unit.getFirst());
      }
    }
  }

  private void other(Node node) {
    switch (node.op()) {
      case Control.Part part -> part(node, part.index());
      case Control.Cond cond ->
          parts.put(node, new CondLowering(lowering, this, node, cond).parts());
      case Control.While loop ->
          parts.put(node, new WhileLowering(lowering, this, node, loop).parts());
      case Control.Group _ -> step(node, new Work.Pass());
      case Control.Recorded recorded -> step(node, new Work.Recall(recorded.inner()));
      case Effect effect -> {
        if (!(effect instanceof Action action)) {
          throw new IllegalArgumentException(node + " is an effect that cannot take place.");
        }
        step(node, new Work.Act(action, node));
      }
      case Increment increment -> step(node, new Work.Change(increment));
      case Pure _ -> {} // A leaf; whoever needs its value says that it was not given.
    }
  }

  private void part(Node node, int index) {
    List<Step.@Nullable Edge> several = parts.get(node.input(0));
    Step.Edge edge = several == null ? null : several.get(index);
    define(node, edge == null ? edge(node.input(0)) : edge);
  }

  private void step(Node node, Work work) {
    Step step = new Step(work, frame, node.inputs().size(), node.types().size());
    for (int i = 0; i < node.inputs().size(); i++) {
      step.takes(i, edge(node.input(i)));
    }
    order(step, node.after());
    if (pivot != null) {
      step.waitsFor(pivot.get());
    }
    List<Step.@Nullable Edge> results = new ArrayList<>();
    for (int i = 0; i < node.types().size(); i++) {
      results.add(new Step.Edge(step, i));
    }
    parts.put(node, results);
    if (results.size() == 1) {
      define(node, new Step.Edge(step, 0));
    }
    ends.put(node, step);
  }

  private void order(Step step, List<Node> earlier) {
    for (Node node : earlier) {
      if (!clusters.isConstant(node)) {
        step.waitsFor(end(node));
      }
    }
  }

  private void region(List<Node> members, Set<Node> results) {
    Map<Node, Node> operands = new LinkedHashMap<>();
    Map<Node, Node> built = new HashMap<>();
    Set<Node> earlier = new LinkedHashSet<>();
    for (Node member : members) {
      List<Node> inputs = new ArrayList<>();
      for (Node input : member.inputs()) {
        Node inner = built.get(input);
        if (inner == null) {
          inner =
              clusters.isConstant(input)
                  ? input
                  : operands.computeIfAbsent(input, node -> Node.input("operand", node.type()));
        }
        inputs.add(inner);
      }
      built.put(member, Node.of(member.op(), inputs));
      earlier.addAll(member.after());
    }
    List<Node> outputs = new ArrayList<>();
    results.forEach(result -> outputs.add(Objects.requireNonNull(built.get(result))));
    Region region = lowering.region(List.copyOf(operands.values()), new Graph(outputs));
    Step step = new Step(new Work.Compute(region), frame, operands.size(), outputs.size());
    int slot = 0;
    for (Node operand : operands.keySet()) {
      step.takes(slot++, edge(operand));
    }
    order(step, List.copyOf(earlier));
    if (operands.isEmpty() && pivot != null) {
      step.waitsFor(pivot.get());
    }
    int number = 0;
    for (Node result : results) {
      define(result, new Step.Edge(step, number++));
    }
  }

  /** Whether something in this scope uses a result. */
  boolean uses(Node node, int part) {
    return usedParts.getOrDefault(node, Set.of()).contains(part);
  }

  /** The inputs of a node, none of them there before what the node comes after. */
  List<Step.Edge> inputs(Node node) {
    List<Step.Edge> inputs = new ArrayList<>();
    for (Node input : node.inputs()) {
      Step.Edge edge = edge(input);
      if (!node.after().isEmpty()) {
        edge = passed(edge);
        order(edge.step(), node.after());
      }
      inputs.add(edge);
    }
    return inputs;
  }

  FrameDef frame() {
    return frame;
  }

  /** A step of this frame that is over when a value is there, in the branch where it is live. */
  Step when(Step.Edge edge) {
    return passed(edge).step();
  }
}
