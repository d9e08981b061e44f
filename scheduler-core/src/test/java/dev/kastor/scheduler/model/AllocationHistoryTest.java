package dev.kastor.scheduler.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class AllocationHistoryTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  @Test
  void serviceIsTheSumOfWhatWasHeld() {
    AllocationHistory history =
        AllocationHistory.NONE
            .next(Allocation.on("n1", 2), at(10))
            .next(Allocation.on("n1", 4), at(20))
            .next(Allocation.NONE, at(25))
            .next(Allocation.on("n2", 1), at(100));
    assertThat(history.attainedService(at(103))).isEqualTo(2 * 10 + 4 * 5 + 3);
    assertThat(history.starts()).isEqualTo(3);
    assertThat(history.restarts()).isEqualTo(2);
    assertThat(history.since()).contains(at(100));
  }

  @Test
  void slotsAreHeldWithoutABreakUntilThereAreNone() {
    AllocationHistory history = AllocationHistory.NONE.next(Allocation.on("n1", 2), at(10));
    assertThat(history.next(Allocation.on("n2", 1), at(20)).heldSince()).contains(at(10));
    AllocationHistory stopped = history.next(Allocation.NONE, at(30));
    assertThat(stopped.heldSince()).isEmpty();
    assertThat(stopped.next(Allocation.on("n1", 1), at(40)).heldSince()).contains(at(40));
  }

  @Test
  void aClockThatGoesBackTakesNothingAway() {
    AllocationHistory history = AllocationHistory.NONE.next(Allocation.on("n1", 2), at(10));
    assertThat(history.attainedService(at(5))).isZero();
    assertThat(history.next(Allocation.NONE, at(5)).servedSeconds()).isZero();
  }

  private static Instant at(long seconds) {
    return START.plusSeconds(seconds);
  }
}
