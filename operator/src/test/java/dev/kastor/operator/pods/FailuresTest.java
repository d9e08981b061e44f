package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.protocol.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailuresTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final FaultToleranceSpec TWO_RESTARTS = new FaultToleranceSpec(2, 1, 60);

  @Test
  void progressForgivesWhatFailedBefore() {
    Failures failures =
        Failures.of(List.of(failed(0, 0, 1), failed(1, 100, 1)), START.plusSeconds(50));
    assertThat(failures.forgiven()).extracting(PodView::number).containsExactly(0L);
    assertThat(failures.counted()).extracting(PodView::number).containsExactly(1L);
  }

  @Test
  void progressWithinTheSameSecondDoesNotCountAsLater() {
    Failures failures = Failures.of(List.of(failed(0, 10, 1)), START.plusMillis(10_700));
    assertThat(failures.count()).isEqualTo(1);
  }

  @Test
  void whoWasAskedToEndDidNotFail() {
    PodView evicted =
        new PodView(
            "job-0", 0, "n1", PodView.State.FAILED, true, START, START, 143, Optional.empty());
    assertThat(Failures.of(List.of(evicted), Instant.EPOCH).count()).isZero();
  }

  @Test
  void whoEndsWellWithoutAWordFailed() {
    PodView silent = ended(PodView.State.SUCCEEDED, Optional.empty());
    Outcome left = new Outcome(Outcome.Kind.LEFT, null, null, null, 0, "left");
    PodView spoke = ended(PodView.State.SUCCEEDED, Optional.of(left));
    assertThat(Failures.of(List.of(silent, spoke), Instant.EPOCH).counted())
        .containsExactly(silent);
    assertThat(silent.failureMessage())
        .contains("without an outcome", "job.finish()", "leave out goodput");
  }

  @Test
  void givesUpBeyondMaxRestarts() {
    List<PodView> pods = List.of(failed(0, 0, 1), failed(1, 5, 1), failed(2, 9, 1));
    assertThat(Failures.of(pods.subList(0, 2), Instant.EPOCH).exhausted(TWO_RESTARTS)).isFalse();
    assertThat(Failures.of(pods, Instant.EPOCH).exhausted(TWO_RESTARTS)).isTrue();
  }

  @Test
  void exitCode64IsPermanent() {
    assertThat(Failures.of(List.of(failed(0, 0, 137)), Instant.EPOCH).permanent()).isEmpty();
    assertThat(Failures.of(List.of(failed(0, 0, 64)), Instant.EPOCH).permanent()).isPresent();
  }

  @ParameterizedTest
  @CsvSource({"1,1", "2,2", "3,4", "6,32", "7,60", "1000,60"})
  void waitsTwiceAsLongEachTimeUpToTheMost(int failures, long seconds) {
    assertThat(Failures.backoff(TWO_RESTARTS, failures)).isEqualTo(Duration.ofSeconds(seconds));
  }

  @Test
  void theNextAttemptFollowsTheNewestFailure() {
    Failures failures = Failures.of(List.of(failed(1, 7, 1), failed(0, 3, 1)), Instant.EPOCH);
    assertThat(failures.nextAttempt(TWO_RESTARTS)).isEqualTo(START.plusSeconds(9));
  }

  private static PodView failed(long number, int second, int exitCode) {
    Instant at = START.plusSeconds(second);
    return new PodView(
        "job-" + number,
        number,
        "n1",
        PodView.State.FAILED,
        false,
        START,
        at,
        exitCode,
        Optional.empty());
  }

  private static PodView ended(PodView.State state, Optional<Outcome> outcome) {
    return new PodView("job-0", 0, "n1", state, false, START, START, 0, outcome);
  }
}
