package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RefusalsTest {
  private final AtomicLong now = new AtomicLong(-5);
  private final List<String> lines = new ArrayList<>();
  private final Refusals refusals = new Refusals(now::get, lines::add);

  @Test
  void tellsOfTheFirstAtOnceThenOfTheirNumberOnceAMinute() {
    for (int i = 0; i < 1000; i++) {
      refusals.add("10.0.0.1", "reason " + i);
      now.addAndGet(Duration.ofMillis(200).toNanos());
    }
    assertThat(lines)
        .containsExactly(
            "refused a ring connection from 10.0.0.1: reason 0",
            "refused 300 ring connections in 60 s, the last from 10.0.0.1: reason 300",
            "refused 300 ring connections in 60 s, the last from 10.0.0.1: reason 600",
            "refused 300 ring connections in 60 s, the last from 10.0.0.1: reason 900");
  }
}
