package dev.kastor.operator.leader;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class AwakeTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private Instant now = START;
  private final Awake awake = new Awake(() -> now);

  private Instant after(Duration time) {
    now = now.plus(time);
    return awake.since();
  }

  @Test
  void aStandstillEndsAtTheFirstQuestionAfterIt() {
    assertThat(awake.since()).isEqualTo(Instant.EPOCH);
    assertThat(after(Duration.ofSeconds(1))).isEqualTo(Instant.EPOCH);
    assertThat(after(Duration.ofHours(8))).isEqualTo(now);
    Instant woken = now;
    for (int second = 0; second < 100; second++) {
      assertThat(after(Duration.ofSeconds(1))).isEqualTo(woken);
    }
  }

  @Test
  void aClockThatIsSetBackIsNoStandstill() {
    after(Duration.ofSeconds(1));
    assertThat(after(Duration.ofHours(-1))).isEqualTo(Instant.EPOCH);
    assertThat(after(Duration.ofSeconds(2))).isEqualTo(Instant.EPOCH);
  }
}
