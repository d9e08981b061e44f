package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("never-retried")
class SlotClaimsTest {
  private final SlotClaims claims = new SlotClaims();

  @Test
  void aClaimIsAsLargeAsWhatIsFree() {
    try (var claim = claims.claim(Map.of("a", 3, "b", 1), 1, node -> 2)) {
      assertThat(claim.replicas()).containsOnly(Map.entry("a", 2), Map.entry("b", 1));
      assertThat(claim.total()).isEqualTo(3);
      assertThat(claim.whole()).isFalse();
    }
  }

  @Test
  void whatIsClaimedIsNotFreeForOthersUntilItIsClosed() {
    try (var first = claims.claim(Map.of("a", 1), 1, node -> 1)) {
      assertThat(first.whole()).isTrue();
      try (var second = claims.claim(Map.of("a", 1), 1, node -> 1)) {
        assertThat(second.total()).isZero();
      }
    }
    try (var third = claims.claim(Map.of("a", 1), 1, node -> 1)) {
      assertThat(third.whole()).isTrue();
    }
  }

  @Test
  void aReplicaOfSeveralSlotsIsClaimedWholeOrNotAtAll() {
    try (var first = claims.claim(Map.of("a", 3, "b", 1), 2, node -> 5)) {
      assertThat(first.replicas()).containsOnly(Map.entry("a", 2), Map.entry("b", 1));
      assertThat(first.whole()).isFalse();
      // Of five slots four are claimed: one is left, for a replica of one.
      try (var other = claims.claim(Map.of("a", 1), 2, node -> 5)) {
        assertThat(other.total()).isZero();
      }
      try (var small = claims.claim(Map.of("a", 2), 1, node -> 5)) {
        assertThat(small.replicas()).containsOnly(Map.entry("a", 1));
      }
    }
    try (var all = claims.claim(Map.of("a", 2), 2, node -> 5)) {
      assertThat(all.whole()).isTrue();
    }
  }

  @Test
  void moreThanAllIsHeldIsNothingFree() {
    try (var claim = claims.claim(Map.of("a", 1), 1, node -> -1)) {
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
                    try (var claim = claims.claim(Map.of("a", 1), 1, node -> free.get())) {
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
