package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SlotClaimsTest {
  private final SlotClaims claims = new SlotClaims();

  @Test
  void aClaimIsAsLargeAsWhatIsFree() {
    try (var claim = claims.claim(Map.of("a", 3, "b", 1), node -> 2)) {
      assertThat(claim.slots()).containsOnly(Map.entry("a", 2), Map.entry("b", 1));
      assertThat(claim.total()).isEqualTo(3);
      assertThat(claim.whole()).isFalse();
    }
  }

  @Test
  void whatIsClaimedIsNotFreeForOthersUntilItIsClosed() {
    try (var first = claims.claim(Map.of("a", 1), node -> 1)) {
      assertThat(first.whole()).isTrue();
      try (var second = claims.claim(Map.of("a", 1), node -> 1)) {
        assertThat(second.total()).isZero();
      }
    }
    try (var third = claims.claim(Map.of("a", 1), node -> 1)) {
      assertThat(third.whole()).isTrue();
    }
  }

  @Test
  void moreThanAllIsHeldIsNothingFree() {
    try (var claim = claims.claim(Map.of("a", 1), node -> -1)) {
      assertThat(claim.total()).isZero();
    }
  }

  @Test
  void manyThatWantTheLastSlotsAtOnceNeverTakeOneTwice() throws Exception {
    AtomicInteger free = new AtomicInteger(8);
    CountDownLatch start = new CountDownLatch(1);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> all =
          IntStream.range(0, 200)
              .<Future<?>>mapToObj(i ->
                  threads.submit(() -> {
                    start.await();
                    try (var claim = claims.claim(Map.of("a", 1), node -> free.get())) {
                      if (claim.whole()) {
                        Thread.sleep(1);
                        free.decrementAndGet();
                      }
                    }
                    return null;
                  }))
              .toList();
      start.countDown();
      for (Future<?> each : all) {
        each.get();
      }
    }
    assertThat(free.get()).isBetween(0, 7);
  }
}
