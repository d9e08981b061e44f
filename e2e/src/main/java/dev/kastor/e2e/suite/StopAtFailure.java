package dev.kastor.e2e.suite;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Condition that leaves out the later steps of a scenario when one has failed: they would say
 * nothing new.
 */
public final class StopAtFailure implements ExecutionCondition, TestExecutionExceptionHandler {
  private static final ExtensionContext.Namespace HERE =
      ExtensionContext.Namespace.create(StopAtFailure.class);
  private static final String FAILED = "failed";

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    scenario(context).put(FAILED, context.getDisplayName());
    throw failure;
  }

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    Object failed = context.getTestMethod().isEmpty() ? null : scenario(context).get(FAILED);
    return failed == null
        ? ConditionEvaluationResult.enabled("no step has failed")
        : ConditionEvaluationResult.disabled("step failed: " + failed);
  }

  /** Whether the set-up or a step of a scenario has failed. */
  static boolean failed(ExtensionContext scenario) {
    return scenario.getExecutionException().isPresent()
        || scenario.getStore(HERE).get(FAILED) != null;
  }

  private static ExtensionContext.Store scenario(ExtensionContext step) {
    return step.getParent().orElseThrow().getStore(HERE);
  }
}
