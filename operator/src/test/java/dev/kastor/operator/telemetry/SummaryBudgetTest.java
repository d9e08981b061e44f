package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class SummaryBudgetTest {
  private static final Duration INTERVAL = Duration.ofSeconds(30);

  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private final SummaryBudget budget = new SummaryBudget();

  @Test
  void fewJobsKeepTheInterval() {
    assertThat(budget.spacing(10, INTERVAL, NOW)).isEqualTo(INTERVAL);
  }

  @Test
  void manyJobsShareFiftyASecond() {
    assertThat(budget.spacing(10_000, INTERVAL, NOW)).isEqualTo(Duration.ofSeconds(200));
  }

  @Test
  void slowAnswersMakeThemRarerAndQuickOnesOftenAgain() {
    answer(3, 80);
    assertThat(budget.spacing(10_000, INTERVAL, NOW))
        .isEqualTo(Duration.ofMillis(Math.round(10_000_000 / (50 * 0.9 * 0.9 * 0.9))));
    answer(1000, 80);
    assertThat(budget.spacing(10_000, INTERVAL, NOW)).isEqualTo(Duration.ofSeconds(2000));
    answer(1000, 10);
    assertThat(budget.spacing(10_000, INTERVAL, NOW)).isEqualTo(Duration.ofSeconds(200));
  }

  @Test
  void oneThatWasNotStoredCountsAsSlow() {
    budget.answered(false, Duration.ZERO, NOW);
    assertThat(budget.spacing(10_000, INTERVAL, NOW))
        .isEqualTo(Duration.ofMillis(Math.round(10_000_000 / 45.0)));
  }

  @Test
  void slownessIsForgottenWhereNothingIsDue() {
    answer(1000, 80);
    assertThat(budget.spacing(2_000, INTERVAL, NOW)).isEqualTo(Duration.ofSeconds(400));
    assertThat(budget.spacing(2_000, INTERVAL, NOW.plusSeconds(30)))
        .isEqualTo(Duration.ofSeconds(100));
    assertThat(budget.spacing(2_000, INTERVAL, NOW.plusSeconds(500)))
        .isEqualTo(Duration.ofSeconds(40));
    budget.answered(true, Duration.ofSeconds(2), NOW.plusSeconds(32));
    assertThat(budget.spacing(2_000, INTERVAL, NOW.plusSeconds(32)))
        .isEqualTo(Duration.ofMillis(Math.round(2_000_000 / 18.0)));
  }

  @Test
  void timeInWhichAnAnswerIsWaitedForMakesNothingGood() {
    Instant now = NOW;
    for (int i = 0; i < 100; i++) {
      now = now.plusSeconds(15);
      budget.answered(false, Duration.ofSeconds(30), now);
    }
    assertThat(budget.spacing(2_000, INTERVAL, now)).isEqualTo(Duration.ofSeconds(400));
  }

  private void answer(int times, int millis) {
    for (int i = 0; i < times; i++) {
      budget.answered(true, Duration.ofMillis(millis), NOW);
    }
  }
}
