package dev.kastor.e2e.suite;

import dev.kastor.e2e.watch.WatcherProcess;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Entry point of the suite: runs the scenarios, one after the other, and says what became of each.
 */
public final class Suite {
  private static final int MOST_FRAMES = 8;

  private static final String ALL = "dev.kastor.e2e";

  /**
   * Packages of scenarios that need a cluster of another kind, or files that take long to make, and
   * so run alone; each with the property that asks for it.
   */
  private static final Map<String, String> APART =
      Map.of("kastor.scale", ALL + ".scale", "kastor.e2e.release", ALL + ".release");

  private Suite() {}

  /**
   * Exits with 0 if every step passed, with 1 if one failed, with 2 if there were none and with 3
   * if none failed and a scenario or a step was left out.
   *
   * @param args part of the class names of the scenarios to run; all that each gate runs if it is
   *     empty; {@code --list} to write a line for each scenario instead
   */
  public static void main(String[] args) throws IOException {
    if (args[0].equals("--list")) {
      Listing.write(discover(new Choice("", "", true, false)));
      return;
    }
    Path logs = Path.of(System.getenv().getOrDefault("KASTOR_E2E_LOGS", "."));
    Results results = new Results(logs);
    SummaryGeneratingListener summary = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(discover(Choice.given(args[0])), summary, results, new Announcer());
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    summary.getSummary().printFailuresTo(out, MOST_FRAMES);
    Verdict verdict = new Verdict(results.steps());
    // For whoever wants to run scenarios again, and for whoever looks for what must never be.
    Files.write(logs.resolve("failed"), verdict.failed());
    Files.write(logs.resolve("violations"), WatcherProcess.seen());
    Files.writeString(logs.resolve("verdict"), verdict.line() + "\n");
    Progress.say(verdict.line());
    System.exit(verdict.status());
  }

  private static LauncherDiscoveryRequest discover(Choice choice) {
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
    return LauncherDiscoveryRequestBuilder.request()
        .selectors(DiscoverySelectors.selectPackage(apart.orElse(ALL)))
        .filters(
            ClassNameFilter.includeClassNamePatterns(".*Scenario"),
            ClassNameFilter.excludeClassNamePatterns(others),
            (PostDiscoveryFilter) choice::filter)
        // A platform team's first steps come first, then what is never to be cut.
        .configurationParameter(
            "junit.jupiter.testclass.order.default",
            "org.junit.jupiter.api.ClassOrderer$OrderAnnotation")
        // Within and the shared installation are found by their names in META-INF/services.
        .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
        .build();
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
