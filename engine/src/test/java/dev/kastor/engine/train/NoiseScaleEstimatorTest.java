package dev.kastor.engine.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.GradientStats;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Gradients are drawn around a known mean with a known covariance, so the truth is known. */
class NoiseScaleEstimatorTest {
  private static final int DIMENSIONS = 200;
  private static final int INITIAL_BATCH = 32;

  /** Squared norm of the mean gradient. */
  private static final double TRUE_SQUARED_NORM = 2;

  /** Trace of the covariance of one example's gradient: a noise scale of 200 examples. */
  private static final double EXAMPLE_VARIANCE = 400;

  private final SplittableRandom random = new SplittableRandom(17);

  @Tag("slow")
  @ParameterizedTest(name = "{0} groups, batch {1}")
  @CsvSource({
    "1, 32", "1, 128", "1, 512", "2, 32", "2, 128", "2, 1024", "3, 96", "8, 32", "8, 256", "8, 4096"
  })
  void findsTheKnownStatistics(int groups, int globalBatch) {
    // A memory longer than the run, so that the average of all steps is what is looked at.
    NoiseScaleEstimator estimator = new NoiseScaleEstimator(INITIAL_BATCH, 0.999999);
    for (int step = 0; step < 12_000; step++) {
      observe(estimator, groups, globalBatch);
    }
    GradientStats stats = estimator.stats().orElseThrow();

    assertThat(stats.initialBatch()).isEqualTo(INITIAL_BATCH);
    assertThat(stats.squaredNorm()).isCloseTo(TRUE_SQUARED_NORM, percent(5));
    assertThat(stats.variance()).isCloseTo(EXAMPLE_VARIANCE / INITIAL_BATCH, percent(5));
    assertThat(stats.noiseScale()).isCloseTo(200, percent(8));
  }

  @Test
  void agreesAcrossChangesOfSize() {
    NoiseScaleEstimator estimator = new NoiseScaleEstimator(INITIAL_BATCH, 0.999999);
    int[] groups = {1, 2, 1, 8, 4, 1};
    int[] batches = {32, 64, 128, 256, 512, 64};
    for (int round = 0; round < 400; round++) {
      int kind = round % groups.length;
      // As the trainer does at each membership change.
      estimator.restore(estimator.state());
      for (int step = 0; step < 40; step++) {
        observe(estimator, groups[kind], batches[kind]);
      }
    }
    GradientStats stats = estimator.stats().orElseThrow();

    assertThat(stats.squaredNorm()).isCloseTo(TRUE_SQUARED_NORM, percent(5));
    assertThat(stats.variance()).isCloseTo(EXAMPLE_VARIANCE / INITIAL_BATCH, percent(5));
  }

  @Test
  void followsAChangeOfTheNoise() {
    NoiseScaleEstimator estimator = new NoiseScaleEstimator(1, 0.99);
    for (int step = 0; step < 2000; step++) {
      estimator.observe(2, step < 1000 ? 3 : 30, 2, 1);
    }
    // n = 2: variance = 30 - 2, squared norm = 2 * 2 - 30 clamped at 0
    GradientStats stats = estimator.stats().orElseThrow();
    assertThat(stats.variance()).isCloseTo(28, percent(0.1));
    assertThat(stats.squaredNorm()).isZero();
    assertThat(stats.noiseScale()).isInfinite();
  }

  @Test
  void isNotBiasedTowardsItsStartAtZero() {
    NoiseScaleEstimator estimator = new NoiseScaleEstimator(10, 0.999);
    for (int step = 0; step < 10; step++) {
      assertThat(estimator.stats()).isEmpty();
      estimator.observe(4, 7, 4, 20);
    }
    // |G|^2 = (16 - 7) / 3; V/M0 = (7 - 4) / 3 * 2
    GradientStats stats = estimator.stats().orElseThrow();
    assertThat(stats.squaredNorm()).isCloseTo(3, within(1e-9));
    assertThat(stats.variance()).isCloseTo(2, within(1e-9));
  }

  @Test
  void usesTwoSuccessiveGradientsOfUnequalBatches() {
    NoiseScaleEstimator estimator = new NoiseScaleEstimator(10, 0);
    for (int step = 0; step < 10; step++) {
      estimator.observeSingle(new float[] {1, 2}, 10);
      estimator.observeSingle(new float[] {3, 1}, 40);
    }
    estimator.observeSingle(new float[] {1, 2}, 10);

    // a.b = 5; |a-b|^2 = 5; M0 (1/10 + 1/40) = 1.25
    GradientStats stats = estimator.stats().orElseThrow();
    assertThat(stats.squaredNorm()).isCloseTo(5, within(1e-9));
    assertThat(stats.variance()).isCloseTo(4, within(1e-9));
  }

  @Test
  @Tag("never-retried")
  void continuesBitForBitFromItsState() {
    NoiseScaleEstimator first = new NoiseScaleEstimator(INITIAL_BATCH, 0.99);
    for (int step = 0; step < 20; step++) {
      first.observe(2, 3.1 + step, 2.3, 64);
    }
    NoiseScaleEstimator second = new NoiseScaleEstimator(INITIAL_BATCH, 0.99);
    second.restore(first.state());
    first.observe(3, 2.9, 1.7, 96);
    second.observe(3, 2.9, 1.7, 96);

    assertThat(Arrays.equals(first.state(), second.state())).isTrue();
    assertThat(first.state()).hasSize(NoiseScaleEstimator.STATE_LENGTH);
  }

  /** A single group that returns has no gradient of the step before. */
  @Test
  void aPairIsOfTwoStepsWithNothingBetweenThem() {
    NoiseScaleEstimator estimator = new NoiseScaleEstimator(1, 0.5);
    float[] gradient = {1};
    estimator.observeSingle(gradient, 1);
    estimator.observe(2, 3, 2, 1);
    double[] afterGroups = estimator.state();
    estimator.observeSingle(gradient, 1);
    assertThat(estimator.state()).as("after a step of two groups").isEqualTo(afterGroups);
    estimator.observeSingle(gradient, 1);
    double[] afterPair = estimator.state();
    assertThat(afterPair).as("two steps in a row").isNotEqualTo(afterGroups);
    estimator.restore(afterPair);
    estimator.observeSingle(gradient, 1);
    assertThat(estimator.state()).as("after a change of members").isEqualTo(afterPair);
  }

  /**
   * With a memory of half a step at M0, a step of M0 keeps a half of what was, one of 2 M0 a
   * quarter.
   */
  @Test
  void aLargerBatchForgetsMore() {
    NoiseScaleEstimator estimator = new NoiseScaleEstimator(2, 0.5);
    estimator.observeSingle(new float[] {1}, 4);
    estimator.observeSingle(new float[] {1}, 4);
    assertThat(estimator.state()[2]).as("weight").isCloseTo(1 - 0.25, within(1e-12));
    estimator.observeSingle(new float[] {1}, 2);
    assertThat(estimator.state()[2]).as("weight").isCloseTo(1 - 0.25 * 0.5, within(1e-12));
  }

  @Test
  void ignoresAStepThatOverflowed() {
    NoiseScaleEstimator estimator = new NoiseScaleEstimator(10, 0.99);
    double[] before = estimator.state();
    estimator.observe(2, Double.POSITIVE_INFINITY, Double.NaN, 20);

    assertThat(Arrays.equals(estimator.state(), before)).isTrue();
  }

  @Test
  void refusesBadArguments() {
    NoiseScaleEstimator estimator = new NoiseScaleEstimator(10, 0.99);
    assertThatThrownBy(() -> estimator.observe(1, 1, 1, 10)).hasMessageContaining("groups");
    assertThatThrownBy(() -> estimator.restore(new double[3])).hasMessageContaining("4 numbers");
    assertThatThrownBy(() -> new NoiseScaleEstimator(0, 0.9)).hasMessageContaining("initialBatch");
    assertThatThrownBy(() -> new NoiseScaleEstimator(1, 1)).hasMessageContaining("smoothing");
  }

  private void observe(NoiseScaleEstimator estimator, int groups, int globalBatch) {
    double[] mean = new double[DIMENSIONS];
    double meanGroupSquaredNorm = 0;
    double spread = Math.sqrt(EXAMPLE_VARIANCE / DIMENSIONS / ((double) globalBatch / groups));
    double center = Math.sqrt(TRUE_SQUARED_NORM / DIMENSIONS);
    for (int group = 0; group < groups; group++) {
      double squaredNorm = 0;
      for (int i = 0; i < DIMENSIONS; i++) {
        double value = center + spread * random.nextGaussian();
        squaredNorm += value * value;
        mean[i] += value / groups;
      }
      meanGroupSquaredNorm += squaredNorm / groups;
    }
    if (groups == 1) {
      float[] gradient = new float[DIMENSIONS];
      for (int i = 0; i < DIMENSIONS; i++) {
        gradient[i] = (float) mean[i];
      }
      estimator.observeSingle(gradient, globalBatch);
    } else {
      double meanSquaredNorm = Arrays.stream(mean).map(value -> value * value).sum();
      estimator.observe(groups, meanGroupSquaredNorm, meanSquaredNorm, globalBatch);
    }
  }

  private static org.assertj.core.data.Percentage percent(double value) {
    return org.assertj.core.data.Percentage.withPercentage(value);
  }
}
