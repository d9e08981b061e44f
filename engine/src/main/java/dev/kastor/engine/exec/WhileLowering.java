package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Node;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes a frame of a loop: values enter it, meet those of the iteration before, and go on or leave
 * as the condition says.
 */
final class WhileLowering {
  private static final int LEAVE = 0;
  private static final int GO_ON = 1;

  private final Lowering lowering;
  private final Scope outer;
  private final Control.While loop;
  private final FrameDef frame;
  private final List<Step.Edge> inputs;
  private final List<Step> meetings = new ArrayList<>();
  private final @Nullable Step[] invariants;
  private final List<Step.@Nullable Edge> parts = new ArrayList<>();

  WhileLowering(Lowering lowering, Scope outer, Node node, Control.While loop) {
    this.lowering = lowering;
    this.outer = outer;
    this.loop = loop;
    frame = new FrameDef(loop.parallelIterations());
    inputs = outer.inputs(node);
    invariants = new Step[inputs.size()];
    for (int i = 0; i < loop.carried(); i++) {
      meetings.add(meeting(inputs.get(i)));
    }
    Step.Edge condition = condition();
    List<Step> gates = new ArrayList<>();
    for (Step meeting : meetings) {
      Step gate = gate(new Step.Edge(meeting, 0), condition);
      gates.add(gate);
      parts.add(exit(gate));
    }
    Step pivot = new Step(new Work.Pass(), frame, 1, 1);
    pivot.takes(0, new Step.Edge(gates.getFirst(), GO_ON));
    Scope body = body(gates, condition, pivot);
    for (int i = 0; i < loop.carried(); i++) {
      goOn(body.edge(loop.body().results().get(i)), meetings.get(i));
    }
    parts.add(outer.uses(node, loop.countPart()) ? count(condition, pivot) : null);
    parts.add(outer.uses(node, loop.historyPart()) ? history(condition, body) : null);
  }

  /** Where each result is; null for those that nothing uses. */
  List<Step.@Nullable Edge> parts() {
    return parts;
  }

  private Step enter(Step.Edge value, boolean invariant) {
    Step enter =
        new Step(
            new Work.Enter(frame, invariant, !invariant && meetings.isEmpty()),
            outer.frame(),
            1,
            1);
    enter.takes(0, value);
    frame.enters++;
    return enter;
  }

  /** Where the value of an iteration is, from outside or from the iteration before. */
  private Step meeting(Step.Edge initial) {
    Step meeting = new Step(new Work.Pass(), frame, 1, 1);
    meeting.takes(0, new Step.Edge(enter(initial, false), 0));
    return meeting;
  }

  private Step gate(Step.Edge value, Step.Edge condition) {
    Step gate = new Step(new Work.Switch(), frame, 2, 2);
    gate.takes(0, value);
    gate.takes(1, condition);
    return gate;
  }

  private Step.Edge exit(Step gate) {
    Step exit = new Step(new Work.Exit(), frame, 1, 1);
    exit.takes(0, new Step.Edge(gate, LEAVE));
    frame.exits.add(exit);
    return new Step.Edge(exit, 0);
  }

  private void goOn(Step.Edge value, Step meeting) {
    Step next = new Step(new Work.Next(), frame, 1, 1);
    next.takes(0, value);
    meeting.mayTake(0, new Step.Edge(next, 0));
  }

  private Step.Edge invariant(int input) {
    Step known = invariants[input];
    if (known == null) {
      known = enter(inputs.get(input), true);
      invariants[input] = known;
    }
    return new Step.Edge(known, 0);
  }

  private Step.Edge condition() {
    List<Node> parameters = loop.condition().parameters();
    Scope scope = new Scope(lowering, frame, meetings::getFirst);
    for (int i = 0; i < parameters.size(); i++) {
      int number = i;
      Supplier<Step.Edge> edge =
          i < loop.carried()
              ? () -> new Step.Edge(meetings.get(number), 0)
              : () -> invariant(number);
      scope.defineLater(parameters.get(i), edge);
    }
    Node result = loop.condition().results().getFirst();
    scope.lower(List.of(result), new HashSet<>(parameters));
    return scope.edge(result);
  }

  private Scope body(List<Step> gates, Step.Edge condition, Step pivot) {
    List<Node> parameters = loop.body().parameters();
    Scope scope = new Scope(lowering, frame, () -> pivot);
    for (int i = 0; i < parameters.size(); i++) {
      int number = i;
      Supplier<Step.Edge> edge =
          i < loop.carried()
              ? () -> new Step.Edge(gates.get(number), GO_ON)
              : () -> new Step.Edge(gate(invariant(number), condition), GO_ON);
      scope.defineLater(parameters.get(i), edge);
    }
    List<Node> wanted = new ArrayList<>(loop.body().results());
    wanted.addAll(lowering.kept(loop.body()));
    scope.lower(wanted, new HashSet<>(parameters));
    return scope;
  }

  private Step.Edge count(Step.Edge condition, Step pivot) {
    Step zero = new Step(new Work.Count(true), outer.frame(), 0, 1);
    zero.waitsFor(outer.when(inputs.getFirst()));
    Step meeting = meeting(new Step.Edge(zero, 0));
    Step count = new Step(new Work.Count(false), frame, 0, 1);
    count.waitsFor(pivot);
    goOn(new Step.Edge(count, 0), meeting);
    return exit(gate(new Step.Edge(meeting, 0), condition));
  }

  private Step.Edge history(Step.Edge condition, Scope body) {
    Step begin = new Step(new Work.Begin(), outer.frame(), 0, 1);
    begin.waitsFor(outer.when(inputs.getFirst()));
    Step meeting = meeting(new Step.Edge(begin, 0));
    Step gate = gate(new Step.Edge(meeting, 0), condition);
    Step.Edge kept =
        lowering.keep(lowering.kept(loop.body()), body, new Step.Edge(gate, GO_ON), false);
    goOn(kept, meeting);
    return exit(gate);
  }
}
