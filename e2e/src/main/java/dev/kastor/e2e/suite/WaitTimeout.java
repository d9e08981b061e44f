package dev.kastor.e2e.suite;

import java.util.List;
import org.opentest4j.MultipleFailuresError;

/**
 * Failure of a wait whose limit was over before its condition held. It is tried again also where
 * other failures are not, since a slow machine may be the cause: a condition that an attack or a
 * fault prevents does not hold at the second try either.
 */
public final class WaitTimeout extends AssertionError {
  private static final long serialVersionUID = 1;

  WaitTimeout(String message) {
    super(message);
  }

  /** True for a timeout, and for a failure that is made of timeouts alone. */
  static boolean alone(Throwable failure) {
    if (failure instanceof MultipleFailuresError several) {
      List<Throwable> each = several.getFailures();
      return !each.isEmpty() && each.stream().allMatch(WaitTimeout::alone);
    }
    return failure instanceof WaitTimeout;
  }
}
