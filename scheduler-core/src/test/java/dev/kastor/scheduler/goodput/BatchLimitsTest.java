package dev.kastor.scheduler.goodput;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Limits that are changed in one thing keep all others. */
final class BatchLimitsTest {
  private static final BatchLimits LIMITS = new BatchLimits(64, 512, 8, 32, true, 256);

  @Test
  void aLimitIsReplaced() {
    assertThat(LIMITS.withMaxAtomicBatch(16)).isEqualTo(new BatchLimits(64, 512, 8, 16, true, 256));
    assertThat(LIMITS.withTarget(128)).isEqualTo(new BatchLimits(64, 512, 8, 32, true, 128));
  }

  @Test
  void theTargetIsAtMostTheLargestBatch() {
    assertThat(LIMITS.withMaxGlobalBatch(128))
        .isEqualTo(new BatchLimits(64, 128, 8, 32, true, 128));
    assertThat(LIMITS.withMaxGlobalBatch(900))
        .isEqualTo(new BatchLimits(64, 900, 8, 32, true, 256));
  }

  @Test
  void whatFitsADeviceBringsTheSmallestBatchDown() {
    assertThat(LIMITS.fitting(32)).isSameAs(LIMITS);
    assertThat(LIMITS.fitting(31)).isEqualTo(new BatchLimits(64, 512, 8, 31, true, 256));
    assertThat(LIMITS.fitting(9)).isEqualTo(new BatchLimits(64, 512, 5, 9, true, 256));
    assertThat(LIMITS.fitting(2)).isEqualTo(new BatchLimits(64, 512, 4, 8, true, 256));
  }
}
