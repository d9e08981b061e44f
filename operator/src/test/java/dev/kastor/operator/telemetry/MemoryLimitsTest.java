package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.goodput.BatchLimits;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MemoryLimitsTest {
  private static final BatchLimits LIMITS = new BatchLimits(32, 4096, 2, 256, true);

  private final MemoryLimits memory = new MemoryLimits(LIMITS, null);

  @Test
  void aBatchThatDidNotFitIsHalvedWhereNoneIsKnownToFit() {
    assertThat(memory.most()).isEmpty();
    assertThat(memory.outOfMemory("t4", 64)).isTrue();
    assertThat(memory.most()).isEqualTo(Map.of("t4", 32));
    assertThat(memory.outOfMemory("t4", 64)).as("told again, as after a restart").isFalse();
    assertThat(memory.outOfMemory("t4", 32)).isTrue();
    assertThat(memory.most()).isEqualTo(Map.of("t4", 16));
  }

  @Test
  void theNextTryIsHalfWayToTheLargestThatWasTrainedWith() {
    memory.trained(profile("t4", 60));
    memory.trained(profile("t4", 40));
    memory.trained(profile("a100", 128));
    assertThat(memory.outOfMemory("t4", 100)).isTrue();
    assertThat(memory.most()).isEqualTo(Map.of("t4", 80));
    assertThat(memory.outOfMemory("t4", 60)).as("it does not fit any more").isTrue();
    assertThat(memory.most()).isEqualTo(Map.of("t4", 30));
  }

  @Test
  void everyTryIsSmallerThanTheOneBeforeUntilTheSmallest() {
    for (int at = 256; at > 2; ) {
      assertThat(memory.outOfMemory("", at)).isTrue();
      int next = memory.most().getOrDefault("", 0);
      assertThat(next).isLessThan(at).isGreaterThanOrEqualTo(2);
      at = next;
    }
    assertThat(memory.outOfMemory("", 2)).as("the job may have no smaller one").isFalse();
  }

  @Test
  void aLimitNeverRisesAndNamesOfTypesAreBounded() {
    assertThat(memory.fits("", 20)).isTrue();
    assertThat(memory.fits("", 30)).isFalse();
    assertThat(memory.fits("", 300)).isFalse();
    for (int i = 0; i < 100; i++) {
      var _ = memory.fits("type-" + i, 10);
    }
    assertThat(memory.most()).hasSize(32).containsEntry("", 20);
  }

  @Test
  void anotherOperatorGoesOnWithWhatIsStored() {
    MemoryLimits next = new MemoryLimits(LIMITS, Map.of("t4", 16, "h100", 100_000));
    assertThat(next.most()).isEqualTo(Map.of("t4", 16));
  }

  private static StepProfile profile(String type, int atomic) {
    return new StepProfile(1, 1, atomic, 10, 0.1, 0).onType(type);
  }
}
