package dev.kastor.scheduler.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.StepProfile;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ThroughputObjectiveTest {
  private static final int SIZE = ThroughputObjective.SIZE;

  /** One replica, several on a node and on two, with exchanges both shorter and longer. */
  private static final List<StepProfile> PROFILES =
      List.of(
          new StepProfile(1, 1, 32, 10, 0.11, 0),
          new StepProfile(1, 2, 16, 10, 0.09, 0.02),
          new StepProfile(1, 4, 64, 10, 0.31, 0.05),
          new StepProfile(2, 3, 16, 10, 0.42, 0.35),
          new StepProfile(2, 8, 128, 10, 0.7, 0.2));

  private static final List<double[]> PLACES =
      List.of(
          new double[] {0.02, 0.003, 0.1, 0.02, 0.01, 0.004, 1.5},
          new double[] {0.05, 0.001, 0.3, 0.01, 0.2, 0.03, 1.1},
          new double[] {0.01, 0.002, 0.02, 0.05, 0.03, 0.001, 4});

  private static double compute(StepProfile profile, double[] p) {
    return p[0] + p[1] * profile.atomicBatchSize();
  }

  /** Seconds of a step by the formula of the paper, section 3.2. */
  private static double step(StepProfile profile, double[] p) {
    double beyond = Math.max(profile.replicas() - 2, 1e-8);
    double sync =
        profile.replicas() == 1
            ? 1e-8 + 1e-8 * beyond
            : profile.nodes() > 1 ? p[2] + p[3] * beyond : p[4] + p[5] * beyond;
    return Math.pow(Math.pow(compute(profile, p), p[6]) + Math.pow(sync, p[6]), 1 / p[6]);
  }

  private static double meanSquare(double[] p, boolean whole) {
    return PROFILES.stream()
        .mapToDouble(profile -> {
          double said = whole ? step(profile, p) : compute(profile, p);
          double measured =
              whole ? profile.stepSeconds() : profile.stepSeconds() - profile.syncSeconds();
          return Math.pow(Math.log(said / measured), 2);
        })
        .average()
        .orElseThrow();
  }

  private static double root(double[] p, boolean whole, double floor) {
    return Math.sqrt(meanSquare(p, whole) + floor * floor);
  }

  private static double slope(ToDoubleFunction<double[]> of, double[] p, int k) {
    double h = 1e-6 * p[k];
    double[] up = p.clone();
    double[] down = p.clone();
    up[k] += h;
    down[k] -= h;
    return (of.applyAsDouble(up) - of.applyAsDouble(down)) / (up[k] - down[k]);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.05})
  void isBothMisfitsAndTheRegularisation(double floor) {
    ThroughputObjective objective = new ThroughputObjective(PROFILES);
    for (double[] p : PLACES) {
      double regularisation =
          1e-3 * Math.pow(p[6] - 1, 2)
              + 1e-2 * (Math.pow(p[3] / p[2], 2) + Math.pow(p[5] / p[4], 2));
      assertThat(objective.value(p, floor))
          .isCloseTo(root(p, false, floor) + root(p, true, floor) + regularisation, within(1e-9));
    }
    assertThat(objective.at(PLACES.getFirst())).isEqualTo(objective.value(PLACES.getFirst(), 0));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.05})
  void itsGradientIsTheSlopeOfItsValue(double floor) {
    ThroughputObjective objective = new ThroughputObjective(PROFILES);
    for (double[] p : PLACES) {
      objective.differentiate(p, floor);
      for (int k = 0; k < SIZE; k++) {
        double slope = slope(place -> objective.value(place, floor), p, k);
        assertThat(objective.gradient[k])
            .as("by constant %d", k)
            .isCloseTo(slope, within(1e-5 * (1 + Math.abs(slope))));
      }
    }
  }

  @Test
  void itsCurvatureIsThatOfLinearResiduals() {
    double floor = 0.05;
    ThroughputObjective objective = new ThroughputObjective(PROFILES);
    for (double[] p : PLACES) {
      objective.differentiate(p, floor);
      double[][] expected = new double[SIZE][SIZE];
      for (StepProfile profile : PROFILES) {
        addSquare(
            expected,
            slopes(place -> Math.log(compute(profile, place)), p),
            1 / (PROFILES.size() * root(p, false, floor)));
        addSquare(
            expected,
            slopes(place -> Math.log(step(profile, place)), p),
            1 / (PROFILES.size() * root(p, true, floor)));
      }
      addSquare(expected, slopes(place -> place[3] / place[2], p), 2e-2);
      addSquare(expected, slopes(place -> place[5] / place[4], p), 2e-2);
      expected[6][6] += 2e-3;
      for (int k = 0; k < SIZE * SIZE; k++) {
        double right = expected[k / SIZE][k % SIZE];
        assertThat(objective.curvature[k])
            .as("by constants %d and %d", k / SIZE, k % SIZE)
            .isCloseTo(right, within(1e-5 * (1 + Math.abs(right))));
      }
    }
  }

  private static double[] slopes(ToDoubleFunction<double[]> of, double[] p) {
    return IntStream.range(0, SIZE).mapToDouble(k -> slope(of, p, k)).toArray();
  }

  private static void addSquare(double[][] sums, double[] row, double weight) {
    for (int k = 0; k < SIZE; k++) {
      for (int l = 0; l < SIZE; l++) {
        sums[k][l] += weight * row[k] * row[l];
      }
    }
  }

  @Test
  void aStepThatWasAllExchangeHasAFiniteMisfit() {
    ThroughputObjective objective =
        new ThroughputObjective(List.of(new StepProfile(1, 2, 8, 1, 0.5, 0.5)));
    assertThat(objective.at(PLACES.getFirst())).isFinite();
    assertThat(ThroughputObjective.computeSeconds(new StepProfile(1, 2, 8, 1, 0.5, 0.5)))
        .isEqualTo(0.5e-3);
  }
}
