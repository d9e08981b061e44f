package dev.kastor.scheduler.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class GoodputEstimatorTest {
  private static final ThroughputParams TRUTH =
      new ThroughputParams(0.05, 0.002, 0.08, 0.01, 0.03, 0.002, 1.6);
  private static final GradientStats GRADIENT = new GradientStats(1, 20, 64);

  private static JobSpec spec(Elasticity elasticity) {
    return new JobSpec(
        new JobId("test", "a"),
        Instant.EPOCH,
        elasticity,
        new BatchLimits(64, 4096, 8, 256, true),
        "");
  }

  private static GoodputEstimator adaptive() {
    return new GoodputEstimator(spec(new Elasticity.Adaptive(1, 8, new AllowedReplicas.Any())));
  }

  private static StepProfile profile(int nodes, int replicas, int atomic, double slowdown) {
    double compute = TRUTH.computeSeconds(atomic) * slowdown;
    double step = TRUTH.updateSeconds(new PlacementShape(nodes, replicas, ""), atomic) * slowdown;
    return new StepProfile(nodes, replicas, atomic, 10, step, Math.max(0, step - compute));
  }

  private static double predicted(GoodputEstimator estimator, int nodes, int replicas, int atomic) {
    return estimator
        .model()
        .orElseThrow()
        .params("")
        .updateSeconds(new PlacementShape(nodes, replicas, ""), atomic);
  }

  @Test
  void knowsNothingBeforeProfilesAndNoise() {
    GoodputEstimator estimator = adaptive();
    assertThat(estimator.model()).isEmpty();
    estimator.observe(profile(1, 2, 32, 1));
    assertThat(estimator.model()).isEmpty();
    assertThat(estimator.maxProfiledReplicas()).isEqualTo(2);
    estimator.observe(GRADIENT);
    assertThat(estimator.model()).isPresent();
  }

  @Test
  void aFixedBatchNeedsNoNoiseStatistics() {
    GoodputEstimator estimator =
        new GoodputEstimator(spec(new Elasticity.Elastic(1, 8, new AllowedReplicas.Any())));
    estimator.observe(profile(1, 2, 32, 1));
    GoodputModel model = estimator.model().orElseThrow();
    assertThat(model.efficiency(64)).isCloseTo(1, within(1e-12));
    // Nothing says that more examples a step are of use.
    assertThat(model.efficiency(640)).isCloseTo(0.1, within(1e-12));
  }

  /** The batch of a job that restarts is its script's: what it makes of it is not for us to say. */
  @Test
  void allExamplesOfAJobThatRestartsCountAlike() {
    GoodputEstimator estimator =
        new GoodputEstimator(spec(new Elasticity.Restarting(1, 8, new AllowedReplicas.Any())));
    estimator.observe(profile(1, 2, 32, 1));
    GoodputModel model = estimator.model().orElseThrow();
    assertThat(model.efficiency(64)).isCloseTo(1, within(1e-12));
    assertThat(model.efficiency(640)).isCloseTo(1, within(1e-12));
    estimator.observe(GRADIENT);
    assertThat(estimator.model().orElseThrow().gradient()).isEqualTo(GRADIENT);
  }

  @Test
  void recoversTheStepTimesItWasShown() {
    GoodputEstimator estimator = adaptive();
    estimator.observe(GRADIENT);
    int[][] shapes = {{1, 1}, {1, 2}, {1, 4}, {2, 4}, {2, 8}, {4, 8}};
    for (int[] shape : shapes) {
      for (int atomic : new int[] {16, 64, 200}) {
        estimator.observe(profile(shape[0], shape[1], atomic, 1));
      }
    }
    for (int[] shape : shapes) {
      double truth = TRUTH.updateSeconds(new PlacementShape(shape[0], shape[1], ""), 100);
      assertThat(predicted(estimator, shape[0], shape[1], 100) / truth).isCloseTo(1, within(0.03));
    }
  }

  @Test
  void forgetsSlowFirstReports() {
    GoodputEstimator estimator = adaptive();
    estimator.observe(GRADIENT);
    estimator.observe(profile(1, 1, 32, 8));
    double cold = predicted(estimator, 1, 1, 32);
    for (int i = 0; i < 2; i++) {
      estimator.observe(profile(1, 1, 32, 1));
    }
    double truth = TRUTH.updateSeconds(new PlacementShape(1, 1, ""), 32);
    assertThat(cold).isGreaterThan(4 * truth);
    assertThat(predicted(estimator, 1, 1, 32) / truth).isCloseTo(1, within(0.05));
  }

  @Test
  void followsADrift() {
    GoodputEstimator estimator = adaptive();
    estimator.observe(GRADIENT);
    for (int i = 0; i < 20; i++) {
      estimator.observe(profile(1, 1, 32, i < 10 ? 1 : 1.5));
    }
    double truth = 1.5 * TRUTH.updateSeconds(new PlacementShape(1, 1, ""), 32);
    assertThat(predicted(estimator, 1, 1, 32) / truth).isCloseTo(1, within(0.05));
  }

  @Test
  void doesNotFitAgainForNoiseOrANewGradient() {
    GoodputEstimator estimator = adaptive();
    estimator.observe(GRADIENT);
    estimator.observe(profile(1, 1, 32, 1));
    ThroughputParams first = estimator.model().orElseThrow().params("");
    estimator.observe(profile(1, 1, 32, 1.02));
    estimator.observe(new GradientStats(2, 5, 64));
    GoodputModel model = estimator.model().orElseThrow();
    assertThat(model.params("")).isSameAs(first);
    assertThat(model.gradient().squaredNorm()).isEqualTo(2);
  }

  @Test
  void memoryIsBoundedAndSurvivesARestart() {
    GoodputEstimator estimator = adaptive();
    estimator.observe(GRADIENT);
    estimator.observe(profile(4, 16, 32, 1));
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 3 * GoodputEstimator.MAX_KEYS; i++) {
      estimator.observe(profile(1, 1 + random.nextInt(4), 8 + i % 200, 1));
    }
    GoodputEstimator.Memory memory = estimator.memory();
    assertThat(memory.profilesByType().get("")).hasSize(GoodputEstimator.MAX_KEYS);
    assertThat(memory.maxProfiledReplicas()).isEqualTo(16);
    GoodputEstimator restored =
        GoodputEstimator.from(
            spec(new Elasticity.Adaptive(1, 8, new AllowedReplicas.Any())), memory);
    assertThat(restored.maxProfiledReplicas()).isEqualTo(16);
    for (int replicas : List.of(1, 2, 4)) {
      assertThat(predicted(restored, 1, replicas, 50))
          .isCloseTo(predicted(estimator, 1, replicas, 50), within(1e-3));
    }
  }

  @Test
  void fitSurvivesReportsThatAreAllSynchronisation() {
    GoodputEstimator estimator = adaptive();
    estimator.observe(GRADIENT);
    estimator.observe(new StepProfile(2, 2, 8, 1, 1e-6, 1e-6));
    estimator.observe(new StepProfile(1, 1, 8, 1, 1e6, 0));
    assertThat(predicted(estimator, 1, 2, 8)).isFinite().isPositive();
  }
}
