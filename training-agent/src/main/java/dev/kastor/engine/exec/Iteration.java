package dev.kastor.engine.exec;

import org.jspecify.annotations.Nullable;

/** One iteration of a loop in one run, or the run outside loops; guarded by the run's lock. */
final class Iteration {
  final Frame frame;
  final int number;
  final @Nullable Value[] slots;
  final int[] pending;

  /** Whether something that a step needs is dead; for a merge, how many of its inputs are. */
  final byte[] dead;

  /** Steps that are ready or at work, and frames of inner loops. */
  int outstanding;

  Iteration(Frame frame, int number) {
    this.frame = frame;
    this.number = number;
    slots = new Value[frame.def.slots];
    dead = new byte[frame.def.steps.size()];
    pending = new int[dead.length];
    for (int i = 0; i < pending.length; i++) {
      pending[i] = frame.def.steps.get(i).pending;
    }
  }
}
