package dev.kastor.e2e.suite;

import java.time.Duration;
import java.util.Locale;

/**
 * Step of a scenario and what became of it.
 *
 * @param scenario name of the scenario, such as {@code Training}
 * @param name what the step shows
 * @param reason why it did not pass; empty if it did
 * @param retry whether a failure may be a matter of time, so that a second try can tell
 */
record Step(
    String scenario, String name, Outcome outcome, Duration time, String reason, boolean retry) {
  private static final int LONGEST_REASON = 600;
  private static final double MILLIS = 1e3;

  Step {
    name = oneLine(name);
    reason = oneLine(reason);
  }

  /** What became of a step. */
  enum Outcome {
    PASSED,
    FAILED,
    /** Not run, since an earlier step failed or for a reason of its own. */
    SKIPPED,
    /** Not begun within the time that {@code --within} gives. */
    CUT
  }

  /** Line of {@code results.tsv}, without its end. */
  String line() {
    return String.join(
        "\t",
        scenario,
        name,
        outcome.name(),
        String.format(Locale.ROOT, "%.1f", time.toMillis() / MILLIS),
        reason,
        retry ? "yes" : "no");
  }

  private static String oneLine(String text) {
    String line = text.strip().replaceAll("\\s+", " ");
    return line.length() <= LONGEST_REASON ? line : line.substring(0, LONGEST_REASON) + "…";
  }
}
