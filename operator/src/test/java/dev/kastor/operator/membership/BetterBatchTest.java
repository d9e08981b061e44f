package dev.kastor.operator.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BetterBatchTest {
  private static final PlacementShape ONE = new PlacementShape(1, 1, "");
  private static final PlacementShape TWO = new PlacementShape(1, 2, "");
  private static final JobSpec ADAPTIVE =
      new JobSpec(
          new JobId("team", "a"),
          Instant.EPOCH,
          new Elasticity.Adaptive(1, 4, new AllowedReplicas.Any()),
          new BatchLimits(32, 1024, 1, 256, true),
          "");

  @Test
  void growsTheBatchOfANoisyGradientAtMostTwofold() {
    var better =
        BetterBatch.improvement(ADAPTIVE, Optional.of(model(1000)), TWO, new BatchPlan(32, 0));
    assertThat(better.orElseThrow().globalBatchSize(2)).isGreaterThan(64).isLessThanOrEqualTo(128);
  }

  @Test
  void aSingleReplicaGoesToTwoPassesOfTwiceTheSizeAtOnce() {
    var first = new BatchPlan(32, 0);
    BatchPlan better =
        BetterBatch.improvement(ADAPTIVE, Optional.of(model(1000)), ONE, first).orElseThrow();
    assertThat(better.accumulationSteps()).isEqualTo(1);
    assertThat(better.atomicBatchSize()).isGreaterThan(32).isLessThanOrEqualTo(64);
    BatchPlan next =
        BetterBatch.improvement(ADAPTIVE, Optional.of(model(1000)), ONE, better).orElseThrow();
    assertThat(next.accumulationSteps()).isEqualTo(1);
    assertThat(next.atomicBatchSize())
        .isGreaterThan(better.atomicBatchSize())
        .isLessThanOrEqualTo(2 * better.atomicBatchSize());
  }

  @Test
  void keepsTheBatchWhenThereIsLittleToGain() {
    GoodputModel model = model(4);
    BatchPlan best = BetterBatch.initial(ADAPTIVE, Optional.of(model), TWO, 0);
    var nearby = new BatchPlan(best.atomicBatchSize() + 1, best.accumulationSteps());
    assertThat(BetterBatch.improvement(ADAPTIVE, Optional.of(model), TWO, nearby)).isEmpty();
  }

  @Test
  void withoutAModelTheBatchStaysAtTheInitialOne() {
    assertThat(BetterBatch.initial(ADAPTIVE, Optional.empty(), TWO, 0).globalBatchSize(2))
        .isEqualTo(32);
    assertThat(BetterBatch.improvement(ADAPTIVE, Optional.empty(), TWO, new BatchPlan(16, 0)))
        .isEmpty();
  }

  @Test
  void aBatchThatDoesNotFitIsMadeUpForByPasses() {
    JobSpec fitting = ADAPTIVE.fitting(Map.of("", 10));
    BatchPlan start = BetterBatch.initial(fitting, Optional.empty(), TWO, 0);
    assertThat(start.atomicBatchSize()).isLessThanOrEqualTo(10);
    assertThat(start.globalBatchSize(2)).isEqualTo(32);
    BatchPlan better =
        BetterBatch.improvement(fitting, Optional.of(model(1000)), TWO, start).orElseThrow();
    assertThat(better.atomicBatchSize()).isLessThanOrEqualTo(10);
    JobSpec single =
        ADAPTIVE.withBatchLimits(new BatchLimits(32, 1024, 1, 256, false)).fitting(Map.of("", 10));
    assertThat(BetterBatch.initial(single, Optional.empty(), TWO, 0))
        .as("without accumulation what fits")
        .isEqualTo(new BatchPlan(10, 0));
  }

  private static GoodputModel model(double variance) {
    return new GoodputModel(
        new ThroughputParams(0.05, 0.0005, 0.02, 0.001, 0.02, 0.001, 1.5),
        new GradientStats(1, variance, 32));
  }
}
