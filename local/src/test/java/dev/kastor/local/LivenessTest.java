package dev.kastor.local;

import static dev.kastor.local.Liveness.Answer.GIVEN;
import static dev.kastor.local.Liveness.Answer.NONE;
import static dev.kastor.local.Liveness.Answer.REFUSED;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The rules by which a process hangs or is slow, with a clock that the test moves. */
final class LivenessTest {
  private static final Duration PERIOD = Duration.ofSeconds(10);

  private long nanos = 17;
  private long logBytes = 100;
  private Duration cpu = Duration.ofSeconds(5);
  private final Liveness.Watch watch = new Liveness(() -> NONE, PERIOD).watch(nanos);

  private Optional<String> after(Duration time, Liveness.Answer answer) {
    nanos += time.toNanos();
    return watch.hangs(answer, new Activity(logBytes, cpu), nanos);
  }

  /** Asks for so long; how long it took until the process hung. */
  private Duration hangsAfter(Duration most, Liveness.Answer answer, Runnable work) {
    Duration waited = Duration.ZERO;
    while (waited.compareTo(most) < 0) {
      work.run();
      waited = waited.plus(PERIOD);
      if (after(PERIOD, answer).isPresent()) {
        return waited;
      }
    }
    return Duration.ZERO;
  }

  private void log() {
    logBytes += 80;
  }

  private void compute(Duration each) {
    cpu = cpu.plus(each);
  }

  @Test
  void oneThatIsSilentAndIdleHangsAfterAMinute() {
    assertThat(after(PERIOD, GIVEN)).isEmpty();
    assertThat(hangsAfter(Duration.ofHours(1), NONE, () -> {})).isEqualTo(Liveness.SILENCE);
    assertThat(after(PERIOD, NONE))
        .hasValue("no answer for 70 s, and it neither used CPU time nor logged");
  }

  @Test
  void anAnswerBeginsTheSilenceAnew() {
    for (int i = 0; i < 100; i++) {
      assertThat(after(PERIOD, GIVEN)).isEmpty();
      assertThat(hangsAfter(Liveness.SILENCE.minus(PERIOD), NONE, () -> {})).isZero();
    }
  }

  @Test
  void oneThatLogsIsSlowUntilItHasHadItsCpuTime() {
    assertThat(after(PERIOD, GIVEN)).isEmpty();
    assertThat(hangsAfter(Duration.ofHours(24), NONE, this::log)).isZero();
  }

  @Test
  void oneThatTheMachineGivesLittleIsLeftAlone() {
    assertThat(after(PERIOD, GIVEN)).isEmpty();
    // A tick of the system's clock each ten minutes: five days until the CPU time is reached.
    assertThat(
            hangsAfter(
                Duration.ofDays(4),
                NONE,
                () -> {
                  log();
                  if (nanos / PERIOD.toNanos() % 60 == 0) {
                    compute(Duration.ofMillis(10));
                  }
                }))
        .isZero();
  }

  @Test
  void oneThatComputesWithoutAnAnswerHangsAfterMinutes() {
    assertThat(after(PERIOD, GIVEN)).isEmpty();
    assertThat(hangsAfter(Duration.ofHours(1), NONE, () -> compute(PERIOD)))
        .isEqualTo(Liveness.BUSY_SILENCE);
    assertThat(after(PERIOD, NONE))
        .hasValue("no answer for 310 s, though it used 300 s of CPU time");
  }

  @Test
  void oneWhosePortIsClosedHangsAfterAMinuteHoweverBusyItIs() {
    assertThat(after(PERIOD, GIVEN)).isEmpty();
    assertThat(hangsAfter(Duration.ofHours(1), REFUSED, () -> compute(PERIOD)))
        .isEqualTo(Liveness.SILENCE);
    assertThat(after(PERIOD, REFUSED)).hasValue("no answer for 70 s, nothing listens at its port");
  }

  @Test
  void oneConnectionThatIsTakenIsNoClosedPort() {
    assertThat(after(PERIOD, GIVEN)).isEmpty();
    assertThat(after(PERIOD, NONE)).isEmpty();
    assertThat(
            hangsAfter(
                Liveness.BUSY_SILENCE.minus(PERIOD.multipliedBy(2)),
                REFUSED,
                () -> compute(PERIOD)))
        .isZero();
  }

  @Test
  void oneThatStartsIsLeftAloneAsLongAsItWorks() {
    assertThat(hangsAfter(Duration.ofDays(1), REFUSED, () -> compute(Duration.ofMillis(10))))
        .isZero();
    assertThat(hangsAfter(Duration.ofDays(1), REFUSED, this::log)).isZero();
  }

  @Test
  void oneThatStartsAndDoesNothingHangsAfterMinutes() {
    log();
    assertThat(after(PERIOD, REFUSED)).isEmpty();
    assertThat(hangsAfter(Duration.ofHours(1), REFUSED, () -> {})).isEqualTo(Liveness.IDLE_START);
  }

  @Test
  void aMachineThatSleptTellsNothingOfTheProcess() {
    assertThat(after(PERIOD, GIVEN)).isEmpty();
    for (int night = 0; night < 100; night++) {
      assertThat(after(Duration.ofHours(8), NONE)).isEmpty();
    }
    assertThat(hangsAfter(Duration.ofHours(1), NONE, () -> {})).isEqualTo(Liveness.SILENCE);
  }

  @Test
  void itIsSteadyForTheTimeOfItsAnswers() {
    assertThat(watch.steady()).isZero();
    after(PERIOD, NONE);
    after(PERIOD, GIVEN);
    assertThat(watch.steady()).isZero();
    after(PERIOD, GIVEN);
    after(PERIOD, GIVEN);
    assertThat(watch.steady()).isEqualTo(PERIOD.multipliedBy(2));
  }
}
