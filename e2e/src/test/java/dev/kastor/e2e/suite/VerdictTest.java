package dev.kastor.e2e.suite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.e2e.suite.Step.Outcome;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class VerdictTest {
  private static final Step PASSED = step("Training", Outcome.PASSED);

  @Test
  void passesWhereAllDid() {
    Verdict verdict = new Verdict(List.of(PASSED, PASSED));
    assertThat(verdict.status()).isZero();
    assertThat(verdict.line()).isEqualTo("2 of 2 steps passed");
  }

  @Test
  void aCutScenarioIsNoPassAndIsNamed() {
    Verdict verdict =
        new Verdict(List.of(PASSED, step("Fault", Outcome.CUT), step("Chart", Outcome.CUT)));
    assertThat(verdict.status()).isEqualTo(3);
    assertThat(verdict.line())
        .isEqualTo("1 of 3 steps passed; left out for want of time: Chart, Fault");
  }

  @Test
  void aSkippedStepIsNoPass() {
    Verdict verdict = new Verdict(List.of(PASSED, step("Queue", Outcome.SKIPPED)));
    assertThat(verdict.status()).isEqualTo(3);
    assertThat(verdict.line()).endsWith("steps skipped of Queue");
  }

  @Test
  void aFailureCountsMoreThanWhatWasLeftOut() {
    Verdict verdict =
        new Verdict(
            List.of(
                step("Queue", Outcome.FAILED),
                step("Queue", Outcome.SKIPPED),
                step("Fault", Outcome.CUT)));
    assertThat(verdict.status()).isEqualTo(1);
    assertThat(verdict.failed()).containsExactly("Queue");
    assertThat(verdict.line())
        .isEqualTo("0 of 3 steps passed; failed: Queue; left out for want of time: Fault");
  }

  @Test
  void nothingIsNoPass() {
    assertThat(new Verdict(List.of()).status()).isEqualTo(2);
  }

  private static Step step(String scenario, Outcome outcome) {
    return new Step(scenario, "a step", outcome, Duration.ofMillis(1234), "", true);
  }
}
