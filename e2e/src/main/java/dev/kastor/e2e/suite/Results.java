package dev.kastor.e2e.suite;

import dev.kastor.e2e.suite.Step.Outcome;
import dev.kastor.e2e.watch.WatcherProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestTag;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Record of what became of each step, written to {@code results.tsv} as soon as it is known, and of
 * how long each scenario took with its set-up, in {@code scenarios.tsv}.
 *
 * <p>Scenarios run one after the other, so one thread calls it.
 */
final class Results implements TestExecutionListener {
  /** Tag of what is not tried again after a failure, unless all of it is {@link WaitTimeout}. */
  static final String NEVER_RETRIED = "never-retried";

  private static final double MILLIS = 1e3;
  private static final int MOST_CAUSES = 4;

  private final Path logs;
  private final BooleanSupplier violated;
  private final Map<String, Long> begun = new HashMap<>();
  private final Set<String> known = new HashSet<>();
  private final List<Step> steps = new ArrayList<>();
  private Optional<TestPlan> plan = Optional.empty();

  /**
   * A record that writes to a folder.
   *
   * @param violated whether the watcher has seen a violation so far
   */
  Results(Path logs, BooleanSupplier violated) {
    this.logs = logs;
    this.violated = violated;
  }

  Results(Path logs) {
    this(
        logs,
        () -> {
          try {
            return !WatcherProcess.seen().isEmpty();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  /** All steps so far, in the order in which they ended. */
  List<Step> steps() {
    return List.copyOf(steps);
  }

  @Override
  public void testPlanExecutionStarted(TestPlan given) {
    plan = Optional.of(given);
  }

  @Override
  public void executionStarted(TestIdentifier test) {
    begun.put(test.getUniqueId(), System.nanoTime());
    if (test.isContainer()) {
      // A factory has steps of its own, if it gets to make them.
      known.add(test.getUniqueId());
    }
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    for (TestIdentifier each : leaves(test)) {
      note(each, Within.isCut(reason) ? Outcome.CUT : Outcome.SKIPPED, reason, true);
    }
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (Choice.scenario(test.getUniqueId()).isEmpty()) {
      return;
    }
    String reason = result.getThrowable().map(Results::reason).orElse("");
    boolean retry =
        (!tags(test).contains(NEVER_RETRIED)
                || result.getThrowable().filter(WaitTimeout::alone).isPresent())
            && result.getThrowable().filter(InvariantViolation::in).isEmpty()
            && (result.getStatus() == TestExecutionResult.Status.SUCCESSFUL
                || !violated.getAsBoolean());
    switch (result.getStatus()) {
      case SUCCESSFUL -> {
        if (test.isTest()) {
          note(test, Outcome.PASSED, reason, retry);
        }
      }
      case FAILED -> note(test, Outcome.FAILED, reason, retry);
      case ABORTED -> note(test, Outcome.SKIPPED, reason, retry);
    }
    if (isScenario(test)) {
      leaves(test).stream()
          .filter(step -> !known.contains(step.getUniqueId()))
          .forEach(step -> note(step, Outcome.SKIPPED, "the scenario ended before", true));
      append(
          "scenarios.tsv",
          "%s\t%.1f".formatted(test.getDisplayName(), time(test).toMillis() / MILLIS));
    }
  }

  /** Failure and its causes: a client of Kubernetes names the fault in the cause alone. */
  private static String reason(Throwable failed) {
    return Stream.<Throwable>iterate(failed, Objects::nonNull, Throwable::getCause)
        .limit(MOST_CAUSES)
        .map(String::valueOf)
        .collect(Collectors.joining(", caused by "));
  }

  private void note(TestIdentifier test, Outcome outcome, String reason, boolean retry) {
    known.add(test.getUniqueId());
    Step step =
        new Step(
            Choice.scenario(test.getUniqueId()).orElse(test.getDisplayName()),
            isScenario(test) ? "set-up and end" : test.getDisplayName(),
            outcome,
            time(test),
            reason,
            retry);
    steps.add(step);
    append("results.tsv", step.line());
  }

  private Duration time(TestIdentifier test) {
    long now = System.nanoTime();
    return Duration.ofNanos(now - begun.getOrDefault(test.getUniqueId(), now));
  }

  /** Tags of a step, its factory and its scenario. */
  private Set<String> tags(TestIdentifier test) {
    Set<String> tags = new HashSet<>();
    for (Optional<TestIdentifier> each = Optional.of(test);
        each.isPresent();
        each = each.flatMap(plan.orElseThrow()::getParent)) {
      each.get().getTags().stream().map(TestTag::getName).forEach(tags::add);
    }
    return tags;
  }

  /** Steps of a scenario, a factory or a step; a factory that made none stands for its own. */
  private List<TestIdentifier> leaves(TestIdentifier test) {
    List<TestIdentifier> leaves = new ArrayList<>();
    Set<TestIdentifier> children = plan.orElseThrow().getChildren(test);
    if (children.isEmpty()) {
      leaves.add(test);
    }
    children.forEach(child -> leaves.addAll(leaves(child)));
    return leaves;
  }

  private static boolean isScenario(TestIdentifier test) {
    return test.getUniqueIdObject().getLastSegment().getType().equals("class");
  }

  private void append(String file, String line) {
    try {
      Files.writeString(
          logs.resolve(file), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
