package dev.kastor.simulator.tick;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.simulator.replay.ClusterShape;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class SiaRulesTest {
  private final SiaRules rules = new SiaRules(ClusterShape.parse("aws=2x4,rtx=1x8"));

  private static Placement on(String type, int... slots) {
    return new Placement(type, slots, 1);
  }

  @Tag("slow")
  @Test
  void onlyAnotherTypeOrOtherCountsByNodeAreARestart() {
    assertThat(rules.pauses(on("aws", 4, 4), on("aws", 4, 4))).isFalse();
    assertThat(rules.pauses(on("aws", 4), on("rtx", 4))).isTrue();
    assertThat(rules.pauses(on("aws", 2, 4), on("aws", 4, 2))).isTrue();
  }

  @Test
  void countsJobsOverTooManyNodesAsSpreadEvenly() {
    assertThat(SiaRules.withinMeasured(new int[] {4, 4}, 2)).containsExactly(4, 4);
    assertThat(SiaRules.withinMeasured(new int[] {8, 8, 4, 4}, 3)).containsExactly(8, 8, 8);
    assertThat(SiaRules.withinMeasured(new int[] {4, 4, 4, 1}, 3)).containsExactly(5, 5, 3);
  }

  @Test
  void splitsGivenBatchesIntoAsFewPassesAsHoldThem() {
    BatchLimits limits = new BatchLimits(128, 4096, 32, 1024, true);
    assertThat(SiaBatch.split(2048, 6, 1024, limits)).isEqualTo(new BatchPlan(342, 0));
    assertThat(SiaBatch.split(4096, 3, 1024, limits)).isEqualTo(new BatchPlan(683, 1));
    // One replica beyond its initial batch accumulates, so that it sees its noise.
    assertThat(SiaBatch.split(512, 1, 1024, limits)).isEqualTo(new BatchPlan(256, 1));
    assertThat(SiaBatch.split(128, 1, 1024, limits)).isEqualTo(new BatchPlan(128, 0));
  }
}
