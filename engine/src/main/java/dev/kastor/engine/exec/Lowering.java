package dev.kastor.engine.exec;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.graph.Body;
import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Effect;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Pure;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Turns a graph into a plan: prunes it to what the fetches need, and puts the primitives of control
 * flow in the place of branches and loops (Yu et al., EuroSys 2018, section 4.2).
 */
final class Lowering {
  private final Backend backend;
  private final Memory memory;
  private final List<Region> regions = new ArrayList<>();

  /** Nodes of bodies whose values are kept, because something that is fetched recalls them. */
  private final Set<Node> kept = new LinkedHashSet<>();

  private Lowering(Backend backend, Memory memory) {
    this.backend = backend;
    this.memory = memory;
  }

  /**
   * Plans one combination.
   *
   * @param feeds nodes whose values are given, so that what lies behind them is not needed
   */
  static Plan plan(Backend backend, Memory memory, List<Node> feeds, List<Node> fetches) {
    Lowering lowering = new Lowering(backend, memory);
    FrameDef root = new FrameDef(1);
    Set<Node> known = new HashSet<>(feeds);
    List<Node> order = new Graph(fetches).topological(known::contains);
    lowering.findKept(order);
    Scope scope = new Scope(lowering, root, null);
    for (int i = 0; i < feeds.size(); i++) {
      Step feed = new Step(new Work.Feed(i), root, 0, 1);
      scope.define(feeds.get(i), new Step.Edge(feed, 0));
    }
    scope.lower(fetches, known);
    for (int i = 0; i < fetches.size(); i++) {
      Node fetch = fetches.get(i);
      boolean one = fetch.types().size() == 1;
      Step step = new Step(new Work.Fetch(i), root, one ? 1 : 0, 0);
      if (!one) {
        step.waitsFor(scope.end(fetch));
      } else {
        step.takes(0, scope.edge(fetch));
      }
    }
    return new Plan(root, lowering.regions, feeds, fetches.size());
  }

  private void findKept(List<Node> order) {
    for (Node node : order) {
      switch (node.op()) {
        case Control.Recorded recorded -> kept.add(recorded.inner());
        case Control.Cond cond -> {
          findKept(new Graph(cond.yes().results()).topological());
          findKept(new Graph(cond.no().results()).topological());
        }
        case Control.While loop -> {
          findKept(new Graph(loop.condition().results()).topological());
          findKept(new Graph(loop.body().results()).topological());
        }
        case Control.Part _, Control.Group _, Pure _, Effect _ -> {}
      }
    }
  }

  Region region(List<Node> operands, Graph graph) {
    Region region = new Region(backend, memory, operands, graph);
    regions.add(region);
    return region;
  }

  /** Adds nodes of a scope to a history, one after another. */
  Step.Edge keep(List<Node> kept, Scope scope, Step.Edge history, boolean branch) {
    Step.Edge last = history;
    for (Node node : kept) {
      Step keep = new Step(new Work.Keep(node, branch), scope.frame(), 2, 1);
      keep.takes(0, last);
      keep.takes(1, scope.edge(node));
      last = new Step.Edge(keep, 0);
    }
    return last;
  }

  /** The nodes of a body that are kept, in a fixed order. */
  List<Node> kept(Body body) {
    List<Node> inside = new ArrayList<>();
    Set<Node> nodes = new HashSet<>(new Graph(body.results()).topological());
    nodes.addAll(body.parameters());
    for (Node node : kept) {
      boolean part = node.op() instanceof Control.Part && nodes.contains(node.input(0));
      if (part || nodes.contains(node)) {
        inside.add(node);
      }
    }
    return inside;
  }
}
