package dev.kastor.operator.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("never-retried")
final class PaceTest {
  private static final int AT_ONCE = 200;

  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final Pace pace = new Pace(() -> now, 50, AT_ONCE);

  @Test
  void soManyAtOnceAndThenAtTheRate() {
    assertThat(taken("a", 1_000)).isEqualTo(AT_ONCE);
    now = now.plusMillis(19);
    assertThat(taken("a", 1_000)).isZero();
    now = now.plusMillis(1);
    assertThat(taken("a", 1_000)).isOne();
    now = now.plusSeconds(1);
    assertThat(taken("a", 1_000)).isEqualTo(50);
    now = now.plus(Duration.ofDays(1));
    assertThat(taken("a", 1_000)).as("no more than at first").isEqualTo(AT_ONCE);
  }

  @Test
  void whoKeepsToTheRateIsNeverTurnedAway() {
    taken("a", AT_ONCE);
    for (int i = 0; i < 10_000; i++) {
      now = now.plusMillis(20);
      assertThat(pace.take("a")).isTrue();
    }
  }

  @Test
  void nobodyIsHeldUpByAnother() {
    taken("a", 1_000);
    assertThat(taken("b", 1_000)).isEqualTo(AT_ONCE);
  }

  @Test
  void aClockThatIsSetBackGivesNothing() {
    taken("a", AT_ONCE);
    now = now.minusSeconds(60);
    assertThat(pace.take("a")).isFalse();
  }

  @Test
  void aRateOfZeroIsNone() {
    Pace none = new Pace(() -> now, 0, 0);
    assertThat(IntStream.range(0, 1_000).allMatch(i -> none.take("a"))).isTrue();
  }

  private int taken(String caller, int times) {
    return (int) IntStream.range(0, times).filter(i -> pace.take(caller)).count();
  }
}
