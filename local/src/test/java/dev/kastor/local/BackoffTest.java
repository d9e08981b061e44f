package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class BackoffTest {
  private final Backoff backoff = new Backoff();

  private List<Long> millis(int starts, Duration well) {
    return Stream.generate(() -> backoff.next(well).toMillis()).limit(starts).toList();
  }

  @Tag("slow")
  @Test
  void eachStartWaitsTwiceAsLongUpToAMinute() {
    assertThat(millis(11, Duration.ZERO))
        .containsExactly(
            250L, 500L, 1000L, 2000L, 4000L, 8000L, 16_000L, 32_000L, 60_000L, 60_000L, 60_000L);
  }

  @Test
  void aProcessThatWasWellForMinutesStartsAtOnce() {
    millis(11, Backoff.WELL.minusNanos(1));
    assertThat(millis(1, Backoff.WELL)).containsExactly(250L);
    assertThat(millis(2, Duration.ZERO)).containsExactly(500L, 1000L);
  }
}
