package dev.kastor.scheduler.goodput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Numbers worked by hand, and laws that hold for all parameters. */
final class GoodputModelTest {
  private static final ThroughputParams PARAMS =
      new ThroughputParams(0.1, 0.01, 0.3, 0.02, 0.05, 0.01, 2);
  private static final GoodputModel MODEL = new GoodputModel(PARAMS, new GradientStats(1, 3, 10));

  private static PlacementShape shape(int nodes, int replicas) {
    return new PlacementShape(nodes, replicas, "");
  }

  @Test
  void stepTimeByHand() {
    // Two nodes, four replicas, 20 examples: compute 0.1 + 20 * 0.01 = 0.3 s, network
    // 0.3 + 2 * 0.02 = 0.34 s, together sqrt(0.09 + 0.1156) = 0.4534313619... s.
    assertThat(PARAMS.computeSeconds(20)).isCloseTo(0.3, within(1e-12));
    assertThat(PARAMS.syncSeconds(shape(2, 4))).isCloseTo(0.34, within(1e-12));
    assertThat(PARAMS.updateSeconds(shape(2, 4), 20)).isCloseTo(Math.sqrt(0.2056), within(1e-12));
    // Two accumulation passes more: 2 * 0.3 + 0.4534...
    assertThat(PARAMS.stepSeconds(shape(2, 4), new BatchPlan(20, 2)))
        .isCloseTo(0.6 + Math.sqrt(0.2056), within(1e-12));
  }

  @Test
  void replicasOfOneNodeSynchroniseByTheLocalConstants() {
    assertThat(PARAMS.syncSeconds(shape(1, 2))).isCloseTo(0.05, within(1e-9));
    assertThat(PARAMS.syncSeconds(shape(1, 4))).isCloseTo(0.05 + 2 * 0.01, within(1e-12));
  }

  @Test
  void aModelKnowsTheTypesThatItHasConstantsFor() {
    GoodputModel one =
        new GoodputModel(new LinkedHashMap<>(Map.of("a", PARAMS)), new GradientStats(1, 3, 10));
    assertThat(one.knows("a")).isTrue();
    assertThat(one.knows("b")).isFalse();
    assertThat(MODEL.knows("b")).as("a model of all types").isTrue();
  }

  @Test
  void goodputIsThroughputTimesEfficiency() {
    assertThat(new BestBatch(new BatchPlan(8, 0), 16, 100, 0.25).goodput()).isEqualTo(25);
  }

  @Test
  void goodputByHand() {
    // M = 4 * 20 * 3 = 240, scale 24, gain (3 + 1) / (3 / 24 + 1) = 32 / 9, efficiency 4 / 27.
    BatchPlan batch = new BatchPlan(20, 2);
    double throughput = 240 / (0.6 + Math.sqrt(0.2056));
    assertThat(MODEL.throughput(shape(2, 4), batch)).isCloseTo(throughput, within(1e-9));
    assertThat(MODEL.efficiency(240)).isCloseTo(4.0 / 27, within(1e-12));
    assertThat(MODEL.goodput(shape(2, 4), batch)).isCloseTo(throughput * 4 / 27, within(1e-9));
  }

  @Test
  void aSingleReplicaDoesNotCommunicate() {
    assertThat(PARAMS.updateSeconds(shape(1, 1), 20)).isCloseTo(0.3, within(1e-7));
  }

  @Test
  void gammaGoesFromSumToMaximum() {
    ThroughputParams none = new ThroughputParams(0.1, 0.01, 0.3, 0.02, 0.05, 0.01, 1);
    ThroughputParams full = new ThroughputParams(0.1, 0.01, 0.3, 0.02, 0.05, 0.01, 10);
    assertThat(none.updateSeconds(shape(2, 4), 20)).isCloseTo(0.64, within(1e-12));
    assertThat(full.updateSeconds(shape(2, 4), 20)).isBetween(0.34, 0.36);
  }

  @Test
  void efficiencyFallsWithTheBatchAndIsOneAtTheInitialBatch() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 200; i++) {
      GradientStats stats =
          new GradientStats(random.nextDouble(), 100 * random.nextDouble(), 1 + random.nextInt(99));
      assertThat(stats.efficiency(stats.initialBatch())).isCloseTo(1, within(1e-12));
      double last = 1;
      for (int scale = 2; scale < 100; scale *= 2) {
        double efficiency = stats.efficiency((double) scale * stats.initialBatch());
        assertThat(efficiency).isPositive().isLessThanOrEqualTo(last + 1e-12);
        last = efficiency;
      }
    }
  }

  @Test
  void theBestBatchStaysWithinItsLimitsAndBeatsTheInitialOne() {
    SplittableRandom random = new SplittableRandom(2);
    for (int i = 0; i < 500; i++) {
      int minAtomic = 1 + random.nextInt(16);
      int maxAtomic = minAtomic + random.nextInt(200);
      int initial = minAtomic + random.nextInt(200);
      BatchLimits limits =
          new BatchLimits(
              initial, initial + random.nextInt(3000), minAtomic, maxAtomic, random.nextBoolean());
      int replicas = 1 + random.nextInt(16);
      PlacementShape shape = shape(1 + random.nextInt(replicas), replicas);
      var best = MODEL.best(shape, limits);
      best.ifPresent(found -> {
        assertThat(found.plan().atomicBatchSize()).isBetween(minAtomic, maxAtomic);
        assertThat(found.globalBatchSize())
            .isEqualTo(found.plan().globalBatchSize(replicas))
            .isGreaterThanOrEqualTo(initial);
        if (!limits.accumulation()) {
          assertThat(found.plan().accumulationSteps()).isZero();
        }
        GoodputModel.split(initial, replicas, limits)
            .ifPresent(start ->
                assertThat(found.goodput())
                    .isGreaterThanOrEqualTo(MODEL.goodput(shape, start) - 1e-9));
      });
    }
  }

  @Test
  void aSingleReplicaTakesTwoPassesBeyondTheInitialBatchForItsNoise() {
    BatchLimits limits = new BatchLimits(32, 1024, 4, 256, true);
    assertThat(GoodputModel.split(32, 1, limits)).contains(new BatchPlan(32, 0));
    assertThat(GoodputModel.split(33, 1, limits)).contains(new BatchPlan(17, 1));
    assertThat(GoodputModel.split(100, 1, limits)).contains(new BatchPlan(50, 1));
    assertThat(GoodputModel.split(900, 1, limits)).contains(new BatchPlan(225, 3));
    // Two replicas have two gradients in each pass.
    assertThat(GoodputModel.split(100, 2, limits)).contains(new BatchPlan(50, 0));
    BatchLimits onePass = new BatchLimits(32, 1024, 4, 256, false);
    assertThat(GoodputModel.split(100, 1, onePass)).isEmpty();
  }

  /**
   * Of so noisy a gradient all examples count alike: one pass of 32 gives 32 / 0.42 = 76 a second,
   * two of 128 give 256 / 2.76 = 93. One pass of 256 would give 96.
   */
  @Test
  void theBestBatchOfASingleReplicaHasTwoPassesOrIsTheInitialOne() {
    GoodputModel noisy = new GoodputModel(PARAMS, new GradientStats(1, 1e9, 32));
    assertThat(noisy.best(shape(1, 1), new BatchLimits(32, 256, 4, 256, true)))
        .map(BestBatch::plan)
        .contains(new BatchPlan(128, 1));
    assertThat(noisy.best(shape(1, 1), new BatchLimits(32, 256, 4, 256, false)))
        .map(BestBatch::plan)
        .contains(new BatchPlan(32, 0));
  }

  @Test
  void noBatchFitsMoreReplicasThanTheMaximumFeeds() {
    BatchLimits limits = new BatchLimits(8, 32, 8, 16, true);
    assertThat(MODEL.best(shape(1, 4), limits)).isPresent();
    assertThat(MODEL.best(shape(1, 5), limits)).isEmpty();
  }
}
