package dev.kastor.engine.exec;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One passage through a loop, or the run outside loops; guarded by the run's lock. */
final class Frame {
  /** A value on its way to a later iteration. */
  record Arrival(Step.Target target, Value value, int iteration) {}

  final FrameDef def;

  /** Where the loop stands, absent outside loops. */
  final @Nullable Iteration parent;

  /** Iterations that are not done, from the oldest. */
  final Deque<Iteration> active = new ArrayDeque<>();

  /** What every iteration gets. */
  final List<Arrival> invariants = new ArrayList<>();

  /** What waits until fewer iterations are under way. */
  final List<Arrival> waiting = new ArrayList<>();

  int enters;

  Frame(FrameDef def, @Nullable Iteration parent) {
    this.def = def;
    this.parent = parent;
    enters = def.enters;
    active.add(new Iteration(this, 0));
  }

  /** The iteration of this number, if it has begun and is not done. */
  @Nullable Iteration find(int number) {
    int first = active.isEmpty() ? number + 1 : active.getFirst().number;
    if (number < first || number > active.getLast().number) {
      return null;
    }
    for (Iteration iteration : active) {
      if (iteration.number == number) {
        return iteration;
      }
    }
    return null;
  }
}
