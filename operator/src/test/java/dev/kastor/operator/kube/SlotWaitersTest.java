package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.JobId;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlotWaitersTest {
  private static final JobId ONE = new JobId("team", "one");
  private static final JobId TWO = new JobId("team", "two");

  private final SlotWaiters waiters = new SlotWaiters();

  @Test
  void aFreedSlotConcernsOnlyWhoWaitsForTheNode() {
    for (int i = 0; i < 10_000; i++) {
      waiters.wait(new JobId("team", "other-" + i), List.of("node-" + i % 100));
    }
    waiters.wait(ONE, List.of("a", "b"));
    waiters.wait(TWO, List.of("b"));

    assertThat(waiters.freed("a")).containsExactly(ONE);
    assertThat(waiters.freed("b")).containsExactlyInAnyOrder(ONE, TWO);
  }

  @Test
  void whoHasItsSlotsIsLeftAlone() {
    waiters.wait(ONE, List.of("a"));
    waiters.done(ONE, List.of("a"));

    assertThat(waiters.freed("a")).isEmpty();
  }

  @Test
  void whoWasToldOnceHasToAskAgain() {
    waiters.wait(ONE, List.of("a"));
    waiters.freed("a");

    assertThat(waiters.freed("a")).isEmpty();
  }
}
