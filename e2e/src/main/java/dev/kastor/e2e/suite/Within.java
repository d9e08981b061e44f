package dev.kastor.e2e.suite;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Limit of the time within which scenarios begin, counted from the start of the cluster, for a
 * machine that may be slow: after it all that have not begun are left out, the first one apart.
 */
public final class Within implements ExecutionCondition {
  private static final long MINUTES = Long.getLong("kastor.e2e.within", Long.MAX_VALUE / 60);
  private static final AtomicBoolean BEGUN = new AtomicBoolean();
  private static final String CUT = "left out for want of time: ";

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    boolean scenario = context.getTestClass().isPresent() && context.getTestMethod().isEmpty();
    return scenario
        ? may(Progress.sinceCluster(), MINUTES, BEGUN.getAndSet(true))
        : may(0, 1, false);
  }

  /** Whether the reason why a scenario was left out is that there was no time for it. */
  static boolean isCut(String reason) {
    return reason.startsWith(CUT);
  }

  static ConditionEvaluationResult may(long seconds, long minutes, boolean another) {
    return another && seconds > 60 * minutes
        ? ConditionEvaluationResult.disabled(CUT + "%d minutes are over".formatted(minutes))
        : ConditionEvaluationResult.enabled("in time");
  }
}
