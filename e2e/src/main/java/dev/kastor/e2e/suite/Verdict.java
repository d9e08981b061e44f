package dev.kastor.e2e.suite;

import dev.kastor.e2e.suite.Step.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Verdict on a run of the suite. A scenario that was left out, or a step that was skipped, is no
 * pass.
 */
record Verdict(List<Step> steps) {
  private static final int FAILED = 1;
  private static final int NONE = 2;
  private static final int LEFT_OUT = 3;

  Verdict {
    steps = List.copyOf(steps);
  }

  /**
   * Exit status: 0 if all steps passed, 1 if one failed, 2 if there were none, 3 if none failed and
   * one was cut or skipped.
   */
  int status() {
    if (steps.isEmpty()) {
      return NONE;
    }
    if (has(Outcome.FAILED)) {
      return FAILED;
    }
    return has(Outcome.CUT) || has(Outcome.SKIPPED) ? LEFT_OUT : 0;
  }

  /** Names of scenarios of which a step failed, in the order of the alphabet. */
  Set<String> failed() {
    return scenarios(Outcome.FAILED);
  }

  /** The last line of a run, which says what keeps it from having passed. */
  String line() {
    if (steps.isEmpty()) {
      return "there is no such scenario";
    }
    List<String> parts = new ArrayList<>();
    parts.add(
        "%d of %d steps passed"
            .formatted(
                steps.stream().filter(step -> step.outcome() == Outcome.PASSED).count(),
                steps.size()));
    if (has(Outcome.FAILED)) {
      parts.add("failed: " + String.join(", ", failed()));
    }
    // Later steps of a scenario that failed are no news.
    Set<String> skipped = scenarios(Outcome.SKIPPED);
    skipped.removeAll(failed());
    if (!skipped.isEmpty()) {
      parts.add("steps skipped of " + String.join(", ", skipped));
    }
    if (has(Outcome.CUT)) {
      parts.add("left out for want of time: " + String.join(", ", scenarios(Outcome.CUT)));
    }
    return String.join("; ", parts);
  }

  private boolean has(Outcome outcome) {
    return steps.stream().anyMatch(step -> step.outcome() == outcome);
  }

  private Set<String> scenarios(Outcome outcome) {
    return steps.stream()
        .filter(step -> step.outcome() == outcome)
        .map(Step::scenario)
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
