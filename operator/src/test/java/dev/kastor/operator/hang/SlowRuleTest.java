package dev.kastor.operator.hang;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.Slowest;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class SlowRuleTest {
  private final SlowRule rule = new SlowRule(1.5, Duration.ofMinutes(5));
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");

  private Optional<Slowest> after(int seconds, String pod, double slowdown) {
    now = now.plusSeconds(seconds);
    return rule.look(Optional.of(new Slowest(pod, slowdown, 1)), now);
  }

  @Test
  void tellsOnceOfWhoIsSlowForMinutes() {
    after(0, "a-1", 1.6);
    assertThat(after(299, "a-1", 2)).isEmpty();
    assertThat(after(1, "a-1", 1.5)).hasValueSatisfying(s -> assertThat(s.pod()).isEqualTo("a-1"));
    assertThat(after(300, "a-1", 3)).as("once").isEmpty();
  }

  @Test
  void anothersTurnOrAQuickStepBeginsAnew() {
    after(0, "a-1", 2);
    after(200, "a-2", 2);
    assertThat(after(299, "a-2", 2)).isEmpty();
    after(0, "a-2", 1.4);
    after(1, "a-2", 2);
    assertThat(after(299, "a-2", 2)).isEmpty();
    assertThat(after(1, "a-2", 2)).isPresent();
  }

  @Test
  void whereNothingIsComparedNobodyIsSlow() {
    assertThat(rule.look(Optional.empty(), now)).isEmpty();
    assertThat(new Slowest("a", 5, 0).slowdown()).isEqualTo(1);
  }
}
