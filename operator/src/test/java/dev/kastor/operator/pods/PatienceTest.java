package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class PatienceTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant AWAKE = Instant.EPOCH;
  private static final Patience PATIENCE = new Patience(Duration.ofSeconds(90));

  @Test
  void givesUpAReplicaThatSpokeAndFellSilent() {
    Optional<Instant> heard = Optional.of(START);

    assertThat(PATIENCE.exceeded(heard, START, START, AWAKE, START.plusSeconds(90))).isEmpty();
    assertThat(PATIENCE.exceeded(heard, START, START, AWAKE, START.plusSeconds(91)))
        .contains(Duration.ofSeconds(91));
  }

  @Test
  void waitsLongerForOneThatMayStillBeStarting() {
    Optional<Instant> never = Optional.empty();

    assertThat(PATIENCE.exceeded(never, START, START, AWAKE, START.plusSeconds(360))).isEmpty();
    assertThat(PATIENCE.exceeded(never, START, START, AWAKE, START.plusSeconds(361))).isPresent();
  }

  @Test
  void countsNoTimeInWhichNobodyListened() {
    Instant listening = START.plusSeconds(1000);

    assertThat(
            PATIENCE.exceeded(Optional.of(START), START, listening, AWAKE, START.plusSeconds(1090)))
        .isEmpty();
    assertThat(
            PATIENCE.exceeded(Optional.of(START), START, listening, AWAKE, START.plusSeconds(1091)))
        .contains(Duration.ofSeconds(91));
  }

  @Test
  void countsNoTimeInWhichTheOperatorItselfStoodStill() {
    Instant woken = START.plus(Duration.ofHours(8));
    Optional<Instant> heard = Optional.of(START);

    assertThat(PATIENCE.exceeded(heard, START, START, woken, woken)).isEmpty();
    assertThat(PATIENCE.exceeded(heard, START, START, woken, woken.plusSeconds(90))).isEmpty();
    assertThat(PATIENCE.exceeded(heard, START, START, woken, woken.plusSeconds(91)))
        .contains(Duration.ofSeconds(91));
  }

  @Test
  void oneThatIsStartingWhenTheOperatorWakesIsGivenTheTimeOfAStart() {
    Instant woken = START.plus(Duration.ofHours(8));

    assertThat(PATIENCE.exceeded(Optional.empty(), START, START, woken, woken.plusSeconds(360)))
        .isEmpty();
  }

  @Test
  void takesOneThatIsOlderThanThisTermToHaveStarted() {
    Instant listening = START.plusSeconds(1000);

    assertThat(
            PATIENCE.exceeded(Optional.empty(), START, listening, AWAKE, START.plusSeconds(1091)))
        .contains(Duration.ofSeconds(91));
  }
}
