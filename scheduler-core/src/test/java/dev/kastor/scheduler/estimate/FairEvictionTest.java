package dev.kastor.scheduler.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Entries are named owner and number, the oldest first. */
final class FairEvictionTest {
  private static List<String> surplus(long most, String... entries) {
    return FairEviction.surplus(List.of(entries), entry -> entry.substring(0, 1), entry -> 1, most);
  }

  @Test
  void nothingGoesWhileThereIsRoom() {
    assertThat(surplus(3, "a1", "b1", "a2")).isEmpty();
    assertThat(surplus(0)).isEmpty();
  }

  @Test
  void whoHasMostGivesUpTheOldest() {
    assertThat(surplus(4, "b1", "a1", "a2", "a3", "a4", "b2")).containsExactly("a1", "a2");
  }

  @Test
  void ownersOfEqualManyGiveUpInTurn() {
    assertThat(surplus(2, "a1", "b1", "a2", "b2")).containsExactlyInAnyOrder("a1", "b1");
  }

  @Test
  void weightCountsAndNotNumber() {
    assertThat(
            FairEviction.surplus(
                List.of("a1", "a2", "b100"),
                entry -> entry.substring(0, 1),
                entry -> Long.parseLong(entry.substring(1)),
                10))
        .containsExactly("b100");
  }
}
