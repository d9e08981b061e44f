package dev.kastor.e2e.suite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assertions.assertAll;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

class ResultsTest {
  @TempDir Path logs;

  @Test
  void eachStepIsALineAndStepsAfterAFailureAreSkipped() throws IOException {
    assertThat(lines(run(FailingScenario.class)))
        .containsExactly(
            "Failing/first/PASSED//yes",
            "Failing/second/FAILED/java.lang.AssertionError: not within 5 s/yes",
            "Failing/third/SKIPPED/step failed: second/yes",
            "Failing/steps()/SKIPPED/step failed: second/yes");
    assertThat(logs.resolve("scenarios.tsv")).content().contains("FailingScenario\t");
  }

  @Test
  void whatIsCutIsToldStepByStep() throws IOException {
    assertThat(lines(run(LateScenario.class)))
        .containsExactly(
            "Late/first()/CUT/left out for want of time: 1 minutes are over/yes",
            "Late/steps()/CUT/left out for want of time: 1 minutes are over/yes");
  }

  @Test
  void aSetUpThatFailedLeavesItsStepsSkipped() throws IOException {
    Results results = run(BrokenScenario.class);
    assertThat(lines(results))
        .containsExactly(
            "Broken/set-up and end/FAILED/java.lang.NumberFormatException: For input string: \"no chart\"/yes",
            "Broken/first()/SKIPPED/the scenario ended before/yes");
    assertThat(new Verdict(results.steps()).status()).isEqualTo(1);
  }

  @Test
  void tagsAndInvariantsRuleOutASecondTry() throws IOException {
    assertThat(lines(run(StrictScenario.class)))
        .containsExactly("Strict/one/FAILED/java.lang.AssertionError: too slow/no");
    assertThat(lines(run(WaitingScenario.class)))
        .satisfiesExactly(
            late -> assertThat(late).startsWith("Waiting/late/FAILED/").endsWith("/yes"),
            both -> assertThat(both).startsWith("Waiting/late and lost/FAILED/").endsWith("/no"));
    assertThat(lines(run(AuditedScenario.class)))
        .anyMatch(line -> line.startsWith("Audited/audit()/FAILED/") && line.endsWith("/no"));
  }

  @Test
  void aViolationThatTheWatcherSawRulesOutASecondTryOfWhatFails() throws IOException {
    assertThat(lines(run(FailingScenario.class, true)))
        .contains("Failing/first/PASSED//yes")
        .contains("Failing/second/FAILED/java.lang.AssertionError: not within 5 s/no");
  }

  private Results run(Class<?> scenario) {
    return run(scenario, false);
  }

  private Results run(Class<?> scenario, boolean violated) {
    Results results = new Results(logs, () -> violated);
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(scenario))
                .build(),
            results);
    return results;
  }

  /** Lines of the file without the times. */
  private List<String> lines(Results results) throws IOException {
    List<String> lines = Files.readAllLines(logs.resolve("results.tsv"));
    assertThat(lines.subList(lines.size() - results.steps().size(), lines.size()))
        .isEqualTo(results.steps().stream().map(Step::line).toList());
    return results.steps().stream()
        .map(step -> step.line().split("\t", -1))
        .map(cells -> String.join("/", cells[0], cells[1], cells[2], cells[4], cells[5]))
        .toList();
  }

  @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
  @ExtendWith(StopAtFailure.class)
  static final class FailingScenario {
    @Test
    @Order(1)
    @DisplayName("first")
    void first() {}

    @Test
    @Order(2)
    @DisplayName("second")
    void second() {
      fail("not within\n\t5 s");
    }

    @Test
    @Order(3)
    @DisplayName("third")
    void third() {}

    @TestFactory
    @Order(4)
    Stream<DynamicTest> steps() {
      return Stream.of(DynamicTest.dynamicTest("one", () -> {}));
    }
  }

  static final class NoTime implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return Within.may(61, 1, context.getTestClass().isPresent());
    }
  }

  @TestMethodOrder(MethodOrderer.MethodName.class)
  @ExtendWith(NoTime.class)
  static final class LateScenario {
    @Test
    void first() {}

    @TestFactory
    Stream<DynamicTest> steps() {
      return Stream.of(DynamicTest.dynamicTest("one", () -> {}));
    }
  }

  static final class BrokenScenario {
    @BeforeAll
    static void install() {
      Integer.parseInt("no chart");
    }

    @Test
    void first() {}
  }

  @Tag("never-retried")
  static final class StrictScenario {
    @TestFactory
    Stream<DynamicTest> steps() {
      return Stream.of(
          DynamicTest.dynamicTest(
              "one",
              () -> {
                throw new AssertionError("too slow");
              }));
    }
  }

  @Tag("never-retried")
  static final class WaitingScenario {
    @TestFactory
    Stream<DynamicTest> steps() {
      return Stream.of(
          DynamicTest.dynamicTest("late", () -> assertAll(WaitingScenario::late)),
          DynamicTest.dynamicTest(
              "late and lost", () -> assertAll(WaitingScenario::late, () -> fail("lost"))));
    }

    private static void late() throws Exception {
      Await.until("what does not come", Duration.ZERO, () -> "nothing", () -> false);
    }
  }

  static final class AuditedScenario {
    @Test
    void audit() {
      assertAll(() -> InvariantViolation.unless(() -> assertThat(1).as("lost").isZero()));
    }
  }
}
