package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class SummaryBudgetTest {
  private static final Duration INTERVAL = Duration.ofSeconds(30);

  private final SummaryBudget budget = new SummaryBudget();

  @Test
  void fewJobsKeepTheInterval() {
    assertThat(budget.spacing(10, INTERVAL)).isEqualTo(INTERVAL);
  }

  @Test
  void manyJobsShareFiftyASecond() {
    assertThat(budget.spacing(10_000, INTERVAL)).isEqualTo(Duration.ofSeconds(200));
  }

  @Test
  void slowAnswersMakeThemRarerAndQuickOnesOftenAgain() {
    answer(3, 80);
    assertThat(budget.spacing(10_000, INTERVAL))
        .isEqualTo(Duration.ofMillis(Math.round(10_000_000 / (50 * 0.9 * 0.9 * 0.9))));
    answer(1000, 80);
    assertThat(budget.spacing(10_000, INTERVAL)).isEqualTo(Duration.ofSeconds(2000));
    answer(1000, 10);
    assertThat(budget.spacing(10_000, INTERVAL)).isEqualTo(Duration.ofSeconds(200));
  }

  @Test
  void oneThatWasNotStoredCountsAsSlow() {
    budget.answered(false, Duration.ZERO);
    assertThat(budget.spacing(10_000, INTERVAL))
        .isEqualTo(Duration.ofMillis(Math.round(10_000_000 / 45.0)));
  }

  private void answer(int times, int millis) {
    for (int i = 0; i < times; i++) {
      budget.answered(true, Duration.ofMillis(millis));
    }
  }
}
