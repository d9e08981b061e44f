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

  /** The value in a step's slot. */
  Value value(Step step, int slot) {
    Value value = slots[step.firstSlot + slot];
    if (value == null) {
      throw new IllegalStateException("Input " + slot + " of " + step + " is missing.");
    }
    return value;
  }

  /** The value in a step's slot, which is empty from then on. */
  Value take(Step step, int slot) {
    Value value = value(step, slot);
    slots[step.firstSlot + slot] = null;
    return value;
  }

  /** Lets go of what a step's slots hold. */
  void release(Step step) {
    for (int i = step.firstSlot; i < step.firstSlot + step.slots; i++) {
      Value value = slots[i];
      if (value != null) {
        slots[i] = null;
        value.release();
      }
    }
  }
}
