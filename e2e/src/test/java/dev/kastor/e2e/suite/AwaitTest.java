package dev.kastor.e2e.suite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AwaitTest {
  @Test
  void waitsForWhatMakesProgressHoweverLongItTakes() throws Exception {
    AtomicLong step = new AtomicLong();
    // Seven looks, in each of which there is progress, take longer than the limit.
    Await.whileItMoves(
        "it ends", Duration.ofSeconds(1), () -> "", step::incrementAndGet, () -> step.get() == 7);
    assertThat(step).hasValue(7);
  }

  @Test
  void givesUpWhatMakesNone() {
    assertThatThrownBy(() ->
            Await.whileItMoves(
                "it ends", Duration.ZERO, () -> "it stands still", () -> 7, () -> false))
        .isInstanceOf(WaitTimeout.class)
        .hasMessageContainingAll("it ends", "it stands still");
    assertThatThrownBy(
            () -> Await.until("it ends", Duration.ZERO, () -> "it stands still", () -> false))
        .isInstanceOf(WaitTimeout.class);
  }
}
