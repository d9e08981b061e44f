package dev.kastor.e2e.suite;

import java.util.List;
import org.opentest4j.MultipleFailuresError;

/**
 * Failure of a wait: what was waited for had not come when the limit was over. A slow machine is
 * excuse enough for a second try, also where nothing else is tried again: what an attack or a fault
 * keeps from coming does not come then either.
 */
public final class NotInTime extends AssertionError {
  private static final long serialVersionUID = 1;

  NotInTime(String message) {
    super(message);
  }

  /** Whether a failure is one, or is made of such ones alone. */
  static boolean alone(Throwable failure) {
    if (failure instanceof MultipleFailuresError several) {
      List<Throwable> each = several.getFailures();
      return !each.isEmpty() && each.stream().allMatch(NotInTime::alone);
    }
    return failure instanceof NotInTime;
  }
}
