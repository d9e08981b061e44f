package dev.kastor.e2e;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs the scenarios, one after the other, and says what became of each. */
public final class Suite {
  private static final int MOST_FRAMES = 8;

  /** Whether nodes are played, which the scenarios of this package need and no others bear. */
  private static final boolean SCALE = Boolean.getBoolean("kastor.scale");

  private static final String PLAYED = "dev.kastor.e2e.scale";

  private Suite() {}

  /**
   * Exits with 0 if every step passed, with 1 if one failed and with 2 if there were none.
   *
   * @param args part of the class names of the scenarios to run; all if it is empty
   */
  public static void main(String[] args) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectPackage(SCALE ? PLAYED : "dev.kastor.e2e"))
            .filters(
                ClassNameFilter.includeClassNamePatterns(".*" + args[0] + ".*Scenario"),
                ClassNameFilter.excludeClassNamePatterns(SCALE ? "" : "\\Q" + PLAYED + ".\\E.*"))
            // A platform team's first steps come first, the longest scenario last.
            .configurationParameter(
                "junit.jupiter.testclass.order.default",
                "org.junit.jupiter.api.ClassOrderer$OrderAnnotation")
            .build();
    SummaryGeneratingListener summary = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, summary, new Announcer());
    TestExecutionSummary result = summary.getSummary();
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    result.printFailuresTo(out, MOST_FRAMES);
    Progress.say(
        "%d of %d steps passed, %d left out"
            .formatted(
                result.getTestsSucceededCount(),
                result.getTestsFoundCount(),
                result.getTestsSkippedCount()));
    System.exit(result.getTestsFoundCount() == 0 ? 2 : result.getTotalFailureCount() == 0 ? 0 : 1);
  }

  private static final class Announcer implements TestExecutionListener {
    @Override
    public void executionStarted(TestIdentifier test) {
      if (test.isTest()) {
        Progress.say(test.getDisplayName() + " …");
      }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      if (test.isTest()) {
        Progress.say(test.getDisplayName() + ": " + result.getStatus());
        result.getThrowable().ifPresent(failure -> Progress.say(String.valueOf(failure)));
      }
    }
  }
}
