package dev.kastor.operator.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("never-retried")
final class ShortMemoryTest {
  private static final Duration LIFETIME = Duration.ofMinutes(5);

  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final ShortMemory<String> memory = new ShortMemory<>(() -> now, LIFETIME, 2);

  @Test
  void anAnswerIsGoodForItsTimeAndNotLonger() {
    memory.put("a", "yes");
    now = now.plus(LIFETIME).minusNanos(1);
    assertThat(memory.get("a")).hasValue("yes");
    now = now.plusNanos(1);
    assertThat(memory.get("a")).isEmpty();
  }

  @Test
  void askingDoesNotProlongIt() {
    memory.put("a", "yes");
    for (int second = 1; second < LIFETIME.toSeconds(); second++) {
      now = now.plusSeconds(1);
      assertThat(memory.get("a")).hasValue("yes");
    }
    now = now.plusSeconds(1);
    assertThat(memory.get("a")).isEmpty();
  }

  @Test
  void itEndsWithTheTokenThatItIsAbout() {
    memory.put("a", "yes", now.plusSeconds(10));
    memory.put("b", "yes", now.plus(LIFETIME.multipliedBy(2)));
    now = now.plusSeconds(10);
    assertThat(memory.get("a")).isEmpty();
    assertThat(memory.get("b")).hasValue("yes");
    now = now.plus(LIFETIME).minusSeconds(10);
    assertThat(memory.get("b")).isEmpty();
  }

  @Test
  void theOldestGoesWhereThereAreTooMany() {
    memory.put("a", "1");
    memory.put("b", "2");
    memory.put("a", "3");
    memory.put("c", "4");
    assertThat(memory.get("b")).isEmpty();
    assertThat(memory.get("a")).hasValue("3");
    assertThat(memory.get("c")).hasValue("4");
  }

  @Test
  void oneThatIsForgottenIsGone() {
    memory.put("a", "yes");
    memory.remove("a");
    assertThat(memory.get("a")).isEmpty();
  }
}
