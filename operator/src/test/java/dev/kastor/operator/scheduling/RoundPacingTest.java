package dev.kastor.operator.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class RoundPacingTest {
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final RoundPacing pacing = new RoundPacing(Duration.ofMillis(300), () -> now);

  @Test
  void aQuickRoundIsFollowedAfterTheDelay() {
    round(Duration.ofMillis(20));

    assertThat(pacing.pause()).isEqualTo(Duration.ofMillis(300));
  }

  @Test
  void aSlowRoundIsFollowedAfterHalfAsLongAPause() {
    round(Duration.ofMillis(700));

    assertThat(pacing.pause()).isEqualTo(Duration.ofMillis(350));
  }

  @Test
  void timeThatPassedSinceCounts() {
    round(Duration.ofMillis(700));
    now = now.plusMillis(100);

    assertThat(pacing.pause()).isEqualTo(Duration.ofMillis(300));
  }

  @Test
  void nobodyWaitsForLong() {
    round(Duration.ofSeconds(40));

    assertThat(pacing.pause()).isEqualTo(Duration.ofMillis(500));
  }

  private void round(Duration took) {
    pacing.begins();
    now = now.plus(took);
    pacing.ended();
  }
}
