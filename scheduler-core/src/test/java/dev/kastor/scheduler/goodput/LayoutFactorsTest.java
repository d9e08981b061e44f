package dev.kastor.scheduler.goodput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.estimate.GoodputEstimator;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.Learning;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class LayoutFactorsTest {
  private static final ThroughputParams SIMPLE = new ThroughputParams(1, 0.01, 1, 0, 0.5, 0, 1);
  private static final BatchLimits LIMITS = new BatchLimits(64, 4096, 8, 256, true);
  private static final int[][] SHAPES = {{1, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 4}, {2, 8}, {4, 8}};

  private static JobSpec spec() {
    return new JobSpec(
        new JobId("test", "a"),
        Instant.EPOCH,
        new Elasticity.Adaptive(1, 8, new AllowedReplicas.Any()),
        LIMITS,
        "");
  }

  @Test
  void aFactorIsTheMeanLogRatioOverTheBatchesOfALayout() {
    // One node, two replicas, no overlap: 1 + 0.01 b + 0.5 seconds are fitted.
    LayoutFactors factors =
        LayoutFactors.of(
            List.of(
                new StepProfile(1, 2, 50, 10, 2 * 2.0, 1),
                new StepProfile(1, 2, 150, 10, 8 * 3.0, 1),
                new StepProfile(1, 1, 100, 10, 1.0, 0)),
            SIMPLE);
    assertThat(factors.factor(1, 2)).isCloseTo(4, within(1e-9));
    assertThat(factors.factor(1, 1)).isCloseTo(0.5, within(1e-6));
    assertThat(factors.factor(2, 2)).isEqualTo(1);
  }

  @Test
  void whatSlowsStepsMultipliesAFactorAndStandsForWhatIsNotKnown() {
    LayoutFactors.Layout one = new LayoutFactors.Layout(1, 1);
    LayoutFactors.Layout two = new LayoutFactors.Layout(1, 2);
    LayoutFactors.Layout three = new LayoutFactors.Layout(1, 3);
    SequencedMap<LayoutFactors.Layout, Double> known = new LinkedHashMap<>();
    known.put(one, 2.0);
    known.put(two, 3.0);
    SequencedMap<LayoutFactors.Layout, Double> measured = new LinkedHashMap<>();
    measured.put(two, 1.5);
    measured.put(three, 1.25);
    LayoutFactors slowed = new LayoutFactors(known).slowed(measured, new TreeMap<>(Map.of(4, 1.1)));
    assertThat(slowed.factor(1, 1)).as("no slowdown holds for one replica").isEqualTo(2);
    assertThat(slowed.factor(1, 2)).isEqualTo(4.5);
    assertThat(slowed.factor(1, 3)).isEqualTo(1.25);
    assertThat(slowed.factor(2, 4)).isEqualTo(1.1);
    assertThat(slowed.factor(2, 3)).isEqualTo(1);
  }

  @Test
  void aModelAppliesItToItsOwnGpuTypeAndLayoutOnly() {
    LayoutFactors factors =
        new LayoutFactors(new LinkedHashMap<>(Map.of(new LayoutFactors.Layout(1, 2), 2.0)));
    var params = new LinkedHashMap<>(Map.of("", SIMPLE));
    params.put("rtx", SIMPLE);
    GradientStats gradient = new GradientStats(1, 20, 64);
    GoodputModel plain = new GoodputModel(params, gradient);
    GoodputModel corrected =
        new GoodputModel(params, new LinkedHashMap<>(Map.of("", factors)), gradient);
    BatchPlan batch = new BatchPlan(100, 1);
    PlacementShape observed = new PlacementShape(1, 2, "");
    assertThat(corrected.stepSeconds(observed, batch))
        .isEqualTo(2 * plain.stepSeconds(observed, batch));
    // A type without constants of its own takes those of all types, and their corrections.
    assertThat(corrected.stepSeconds(new PlacementShape(1, 2, "aws"), batch))
        .isEqualTo(2 * plain.stepSeconds(observed, batch));
    for (PlacementShape other :
        List.of(
            new PlacementShape(1, 2, "rtx"),
            new PlacementShape(1, 3, ""),
            new PlacementShape(2, 2, ""))) {
      assertThat(corrected.stepSeconds(other, batch)).isEqualTo(plain.stepSeconds(other, batch));
    }
    BestBatch before = plain.best(observed, LIMITS).orElseThrow();
    BestBatch after = corrected.best(observed, LIMITS).orElseThrow();
    assertThat(after.plan()).isEqualTo(before.plan());
    assertThat(after.goodput()).isCloseTo(before.goodput() / 2, within(1e-9));
    assertThat(corrected).isNotEqualTo(plain);
    assertThat(corrected)
        .isEqualTo(new GoodputModel(params, new LinkedHashMap<>(Map.of("", factors)), gradient));
  }

  @Tag("slow")
  @Test
  void observedLayoutsArePredictedBetterThanByTheFitAlone() {
    SplittableRandom random = new SplittableRandom(3);
    double fitError = 0;
    double tableError = 0;
    for (int trial = 0; trial < 50; trial++) {
      GoodputEstimator fit = new GoodputEstimator(spec());
      GoodputEstimator table =
          new GoodputEstimator(spec(), GoodputEstimator.Merging.NEWEST, Learning.FULL);
      fit.observe(new GradientStats(1, 20, 64));
      table.observe(new GradientStats(1, 20, 64));
      double[] own = new double[SHAPES.length];
      for (int s = 0; s < SHAPES.length; s++) {
        // What no formula of nodes and replicas explains: topology, other software, odd counts.
        own[s] = Math.exp(0.3 * random.nextGaussian());
        for (int atomic : new int[] {32, 128}) {
          StepProfile profile = profile(SHAPES[s], atomic, own[s]);
          fit.observe(profile);
          table.observe(profile);
        }
      }
      for (int s = 0; s < SHAPES.length; s++) {
        PlacementShape shape = new PlacementShape(SHAPES[s][0], SHAPES[s][1], "");
        double truth = profile(SHAPES[s], 80, own[s]).stepSeconds();
        BatchPlan batch = new BatchPlan(80, 0);
        fitError += error(fit.model().orElseThrow().stepSeconds(shape, batch), truth);
        tableError += error(table.model().orElseThrow().stepSeconds(shape, batch), truth);
      }
    }
    assertThat(tableError).isLessThan(0.5 * fitError);
  }

  private static StepProfile profile(int[] shape, int atomic, double factor) {
    double compute = SIMPLE.computeSeconds(atomic) * factor;
    double step = SIMPLE.updateSeconds(new PlacementShape(shape[0], shape[1], ""), atomic) * factor;
    return new StepProfile(shape[0], shape[1], atomic, 10, step, Math.max(0, step - compute));
  }

  private static double error(double predicted, double truth) {
    return Math.abs(Math.log(predicted / truth));
  }
}
