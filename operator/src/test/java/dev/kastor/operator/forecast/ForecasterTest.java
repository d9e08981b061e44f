package dev.kastor.operator.forecast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.forecast.Forecaster.Forecast;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.scheduler.whatif.Answer;
import dev.kastor.scheduler.whatif.OverdueException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ForecasterTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration INTERVAL = Duration.ofSeconds(10);
  private final List<Forecast> heard = new ArrayList<>();
  private Duration takes = Duration.ofMillis(100);
  private boolean overdue;
  private Instant now = START;

  private final Forecaster forecaster =
      new Forecaster(
          new FutureReplays(
              Optional.of((_, _, _, _, _) -> replay()), Policies.BUILT_IN, Duration.ZERO),
          () -> FutureReplaysTest.EMPTY,
          heard::add,
          INTERVAL,
          () -> now);

  private Answer replay() {
    now = now.plus(takes);
    if (overdue) {
      throw new OverdueException("given up");
    }
    return new Answer(
        "",
        START.toString(),
        "fifo",
        List.of(),
        List.of(),
        List.of(
            new Answer.OtherJob("team", "a", true, null, null, "2026-01-01T00:05:00Z", null, null),
            new Answer.OtherJob("team", "b", false, null, null, null, null, null)),
        null,
        null,
        List.of());
  }

  @Test
  void saysWhenJobsEndOfWhichAReplayKnows() {
    forecaster.look();
    assertThat(heard)
        .containsExactly(
            new Forecast(
                Map.of(new JobId("team", "a"), Instant.parse("2026-01-01T00:05:00Z")),
                START.plus(INTERVAL.multipliedBy(2))));
  }

  @Test
  void aReplayTakesATenthOfTheTimeAtMost() {
    assertThat(forecaster.isDue()).isTrue();
    forecaster.look();
    now = START.plus(INTERVAL).minusMillis(1);
    assertThat(forecaster.isDue()).as("before the interval is over").isFalse();
    now = START.plus(INTERVAL);
    assertThat(forecaster.isDue()).isTrue();
    takes = Duration.ofSeconds(3);
    forecaster.look();
    now = START.plus(INTERVAL).plusSeconds(29);
    assertThat(forecaster.isDue()).as("ten times the three seconds").isFalse();
    now = START.plus(INTERVAL).plusSeconds(30);
    assertThat(forecaster.isDue()).isTrue();
  }

  @Test
  void afterOneThatWasGivenUpThereIsALongRest() {
    overdue = true;
    forecaster.look();
    assertThat(heard).isEmpty();
    now = START.plusSeconds(59);
    assertThat(forecaster.isDue()).isFalse();
    now = START.plusSeconds(60);
    assertThat(forecaster.isDue()).isTrue();
  }

  @Test
  void aClockThatJumpsStopsNoForecasts() {
    takes = Duration.ofHours(8);
    forecaster.look();
    now = START.plus(takes);
    assertThat(forecaster.isDue()).isTrue();
    assertThat(heard)
        .singleElement()
        .extracting(Forecast::until)
        .isEqualTo(START.plusSeconds(1200));
  }

  @Test
  void withoutAnIntervalThereIsNone() {
    Forecaster none =
        new Forecaster(
            new FutureReplays(
                Optional.of((_, _, _, _, _) -> replay()), Policies.BUILT_IN, Duration.ZERO),
            () -> FutureReplaysTest.EMPTY,
            heard::add,
            Duration.ZERO,
            () -> now);
    assertThat(none.isDue()).isFalse();
  }
}
