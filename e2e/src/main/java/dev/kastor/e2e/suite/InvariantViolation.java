package dev.kastor.e2e.suite;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Failure that no slowness of the machine excuses, such as an example that was lost or a GPU that
 * was given twice. The step is not tried again.
 */
public final class InvariantViolation extends AssertionError {
  private static final long serialVersionUID = 1;

  private InvariantViolation(AssertionError failure) {
    super(failure.getMessage(), failure);
  }

  /** Makes assertions that must hold on every machine, however slow it is. */
  public static void unless(Runnable assertions) {
    try {
      assertions.run();
    } catch (AssertionError failure) {
      throw new InvariantViolation(failure);
    }
  }

  /** Whether a failure is one, or is made of several of which one is. */
  static boolean in(Throwable failure) {
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Throwable> left = new ArrayDeque<>(Set.of(failure));
    while (!left.isEmpty()) {
      Throwable each = left.pop();
      if (each instanceof InvariantViolation) {
        return true;
      }
      if (seen.add(each)) {
        left.addAll(Set.of(each.getSuppressed()));
        if (each.getCause() != null) {
          left.add(each.getCause());
        }
      }
    }
    return false;
  }
}
