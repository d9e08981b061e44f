package dev.kastor.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.LifecycleSpec;
import dev.kastor.operator.lifecycle.Deadlines.Verdict;
import dev.kastor.operator.status.JobReason;
import dev.kastor.operator.status.LifeTimes;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeadlinesTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final long START_SECONDS = 20;
  private static final int ATTEMPTS = 3;
  private static final LifecycleSpec LIMITS =
      new LifecycleSpec(100L, 50L, START_SECONDS, ATTEMPTS, null);

  @Test
  void timeInSuspensionIsNotActive() {
    LifeTimes times = times(START, 40, null, null, 0);
    assertThat(at(times, 139)).isEqualTo(new Verdict.InTime(START.plusSeconds(140)));
    assertThat(at(times, 140))
        .isInstanceOfSatisfying(
            Verdict.Failed.class,
            failed -> {
              assertThat(failed.reason()).isEqualTo(JobReason.ActiveDeadlineExceeded);
              assertThat(failed.message()).contains("activeDeadlineSeconds (100)");
            });
  }

  @Test
  void waitingIsBoundedUntilItFirstTrained() {
    LifeTimes never = times(null, 0, START, null, 0);
    assertThat(at(never, 50))
        .as("conditions tell whole seconds")
        .isInstanceOf(Verdict.InTime.class);
    assertThat(at(never, 51))
        .isInstanceOfSatisfying(
            Verdict.Failed.class,
            failed -> assertThat(failed.reason()).isEqualTo(JobReason.QueueDeadlineExceeded));
    LifeTimes preempted = times(START.minusSeconds(10), 0, START, null, 0);
    assertThat(at(preempted, 60)).isEqualTo(new Verdict.InTime(START.plusSeconds(90)));
  }

  @Test
  void lateStartsAreRepeatedUntilTheyAreTooMany() {
    assertThat(at(times(null, 0, null, START, 0), 20)).isInstanceOf(Verdict.InTime.class);
    assertThat(at(times(null, 0, null, START, 0), 21))
        .isInstanceOfSatisfying(
            Verdict.StartAgain.class, again -> assertThat(again.failedStarts()).isEqualTo(1));
    assertThat(at(times(null, 0, null, START, 2), 21))
        .isInstanceOfSatisfying(
            Verdict.Failed.class,
            failed -> {
              assertThat(failed.reason()).isEqualTo(JobReason.StartDeadlineExceeded);
              assertThat(failed.message()).contains("attempt 3 of 3");
            });
  }

  @Test
  void whatHasNoLimitLastsForEver() {
    var unlimited = new LifecycleSpec(null, null, 20L, 3, null);
    LifeTimes times = times(START, 0, START, null, 0);
    assertThat(Deadlines.check(unlimited, times, START.plus(Duration.ofDays(1000))))
        .isEqualTo(new Verdict.InTime(Instant.MAX));
  }

  @Test
  void refusalsOfPodsCountAgainstAllStartsTogether() {
    LifeTimes times = times(null, 0, null, null, 0);
    long patience = START_SECONDS * ATTEMPTS;
    assertThat(at(times.refused(Duration.ofSeconds(patience - 1)), 5))
        .isInstanceOf(Verdict.InTime.class);
    assertThat(at(times.refused(Duration.ofSeconds(patience)), 5))
        .isInstanceOfSatisfying(
            Verdict.Failed.class,
            failed -> assertThat(failed.reason()).isEqualTo(JobReason.StartDeadlineExceeded));
    LifeTimes trained = times(START, 0, null, null, 0);
    assertThat(at(trained.refused(Duration.ofSeconds(patience)), 5))
        .isInstanceOf(Verdict.InTime.class);
  }

  @Test
  void podsThatCannotStartCostAnAttemptEach() {
    assertThat(Deadlines.stuck(LIMITS, times(null, 0, null, START, 0), "no such image"))
        .isInstanceOfSatisfying(
            Verdict.StartAgain.class,
            again -> {
              assertThat(again.reason()).isEqualTo(JobReason.PodsCannotStart);
              assertThat(again.failedStarts()).isEqualTo(1);
              assertThat(again.message()).endsWith("no such image");
            });
    int last = ATTEMPTS - 1;
    assertThat(Deadlines.stuck(LIMITS, times(null, 0, null, START, last), "no such image"))
        .isInstanceOf(Verdict.Failed.class);
  }

  private static Verdict at(LifeTimes times, long second) {
    return Deadlines.check(LIMITS, times, START.plusSeconds(second));
  }

  private static LifeTimes times(
      @Nullable Instant started,
      long suspended,
      @Nullable Instant waiting,
      @Nullable Instant starting,
      int failedStarts) {
    return new LifeTimes(
        Optional.ofNullable(started),
        Duration.ofSeconds(suspended),
        Optional.ofNullable(waiting),
        Optional.ofNullable(starting),
        failedStarts,
        Duration.ZERO);
  }
}
