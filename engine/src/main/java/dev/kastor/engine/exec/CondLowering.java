package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Body;
import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Node;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Puts switches before the bodies of a branch and merges behind them, so that one of the two is
 * dead.
 */
final class CondLowering {
  private static final int NO = 0;
  private static final int YES = 1;

  private final Lowering lowering;
  private final FrameDef frame;
  private final Step.Edge predicate;
  private final List<Step.Edge> operands;
  private final @Nullable Step[] switches;
  private final Step.@Nullable Edge history;
  private final List<Step.@Nullable Edge> parts = new ArrayList<>();

  CondLowering(Lowering lowering, Scope outer, Node node, Control.Cond cond) {
    this.lowering = lowering;
    frame = outer.frame();
    List<Step.Edge> inputs = outer.inputs(node);
    predicate = inputs.getFirst();
    operands = inputs.subList(1, inputs.size());
    switches = new Step[operands.size()];
    history = outer.uses(node, cond.yes().results().size()) ? begin(outer) : null;
    List<Step.Edge> no = branch(cond.no(), NO);
    List<Step.Edge> yes = branch(cond.yes(), YES);
    for (int i = 0; i < yes.size(); i++) {
      Step merge = new Step(new Work.Merge(), frame, 2, 1);
      merge.mayTake(NO, no.get(i));
      merge.mayTake(YES, yes.get(i));
      parts.add(new Step.Edge(merge, 0));
    }
    if (history == null) {
      parts.add(null);
    }
  }

  /** Where each result is; null for those that nothing uses. */
  List<Step.@Nullable Edge> parts() {
    return parts;
  }

  private Step.Edge begin(Scope outer) {
    Step begin = new Step(new Work.Begin(), frame, 0, 1);
    begin.waitsFor(outer.when(predicate));
    Step gate = new Step(new Work.Switch(), frame, 2, 2);
    gate.takes(0, new Step.Edge(begin, 0));
    gate.takes(1, predicate);
    return new Step.Edge(gate, 0);
  }

  /** The results, and the history if there is one. */
  private List<Step.Edge> branch(Body body, int side) {
    Step gate = new Step(new Work.Switch(), frame, 2, 2);
    gate.takes(0, predicate);
    gate.takes(1, predicate);
    Step pivot = new Step(new Work.Pass(), frame, 1, 1);
    pivot.takes(0, new Step.Edge(gate, side));
    Scope scope = new Scope(lowering, frame, () -> pivot);
    for (int i = 0; i < operands.size(); i++) {
      int number = i;
      scope.defineLater(body.parameters().get(i), () -> new Step.Edge(gate(number), side));
    }
    List<Node> kept = lowering.kept(body);
    List<Node> wanted = new ArrayList<>(body.results());
    wanted.addAll(kept);
    scope.lower(wanted, new HashSet<>(body.parameters()));
    List<Step.Edge> results = new ArrayList<>();
    body.results().forEach(result -> results.add(scope.edge(result)));
    if (history != null) {
      results.add(lowering.keep(kept, scope, new Step.Edge(history.step(), side), true));
    }
    return results;
  }

  private Step gate(int operand) {
    Step known = switches[operand];
    if (known == null) {
      known = new Step(new Work.Switch(), frame, 2, 2);
      known.takes(0, operands.get(operand));
      known.takes(1, predicate);
      switches[operand] = known;
    }
    return known;
  }
}
