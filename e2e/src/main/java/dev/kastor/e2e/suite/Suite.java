package dev.kastor.e2e.suite;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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

/**
 * Entry point of the suite: runs the scenarios, one after the other, and says what became of each.
 */
public final class Suite {
  private static final int MOST_FRAMES = 8;
  private static final Pattern SCENARIO = Pattern.compile("\\[class:[^]]*\\.(\\w+)Scenario]");

  private static final String ALL = "dev.kastor.e2e";

  /**
   * Packages of scenarios that need a cluster of another kind, or files that take long to make, and
   * so run alone; each with the property that asks for it.
   */
  private static final Map<String, String> APART =
      Map.of("kastor.scale", ALL + ".scale", "kastor.e2e.release", ALL + ".release");

  private Suite() {}

  /**
   * Exits with 0 if every step passed, with 1 if one failed and with 2 if there were none.
   *
   * @param args part of the class names of the scenarios to run; all if it is empty
   */
  public static void main(String[] args) throws IOException {
    Optional<String> apart =
        APART.keySet().stream()
            .filter(property -> System.getProperty(property) != null)
            .map(APART::get)
            .findFirst();
    String others =
        APART.values().stream()
            .filter(each -> !apart.equals(Optional.of(each)))
            .map(each -> Pattern.quote(each + ".") + ".*")
            .collect(Collectors.joining("|"));
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectPackage(apart.orElse(ALL)))
            .filters(
                ClassNameFilter.includeClassNamePatterns(".*" + args[0] + ".*Scenario"),
                ClassNameFilter.excludeClassNamePatterns(others))
            // A platform team's first steps come first, the longest scenario last.
            .configurationParameter(
                "junit.jupiter.testclass.order.default",
                "org.junit.jupiter.api.ClassOrderer$OrderAnnotation")
            // Within is found by its name in META-INF/services.
            .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
            .build();
    SummaryGeneratingListener summary = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, summary, new Announcer());
    TestExecutionSummary result = summary.getSummary();
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    result.printFailuresTo(out, MOST_FRAMES);
    noteFailed(result);
    Progress.say(
        "%d of %d steps passed, %d left out"
            .formatted(
                result.getTestsSucceededCount(),
                result.getTestsFoundCount(),
                result.getTestsSkippedCount()));
    System.exit(result.getTestsFoundCount() == 0 ? 2 : result.getTotalFailureCount() == 0 ? 0 : 1);
  }

  /** Writes which scenarios failed, a name a line, for whoever wants to run those again. */
  private static void noteFailed(TestExecutionSummary result) throws IOException {
    Set<String> failed = new TreeSet<>();
    for (TestExecutionSummary.Failure failure : result.getFailures()) {
      Matcher scenario = SCENARIO.matcher(failure.getTestIdentifier().getUniqueId());
      if (scenario.find()) {
        failed.add(scenario.group(1));
      }
    }
    Path logs = Path.of(System.getenv().getOrDefault("KASTOR_E2E_LOGS", "."));
    Files.write(logs.resolve("failed"), failed);
  }

  private static final class Announcer implements TestExecutionListener {
    @Override
    public void executionStarted(TestIdentifier test) {
      if (test.isTest()) {
        Progress.say(test.getDisplayName() + " …");
      }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
      Progress.say("%s: left out: %s".formatted(test.getDisplayName(), reason));
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
