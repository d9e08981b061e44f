package dev.kastor.scheduler.policy.solve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class SumOfRatesTest {
  /** Checked with ECOS 2.0.14, the interior-point solver of the published scheduler. */
  @Test
  void agreesWithThePublishedSolverAmongManyOptima() {
    double[] common = {1.9491607235019526, 9.858955012437939, 3.891147620898905};
    double[][] rates = {
      {2.066972620841626, 9.993119723027704, 4.14824166818643},
      common,
      common,
      {2.485772012376729, 11.446282185120019, 4.039390463886484},
      {0.45426345546551955, 0.791651377108892, 0.7066583769222082},
      common
    };
    double[][] shares =
        SumOfRates.shares(
            rates, onEachType(new int[] {6, 12, 12, 16, 6, 12}), new int[] {24, 16, 24});
    double[] alike = {0.05556, 0.27778, 0.66667};
    double[][] published = {{0, 1, 0}, alike, alike, {1, 0, 0}, {1, 0, 0}, alike};
    for (int j = 0; j < shares.length; j++) {
      assertThat(shares[j]).containsExactly(published[j], within(5e-6));
    }
  }

  private static int[][] onEachType(int[] gpus) {
    int[][] byType = new int[gpus.length][3];
    for (int j = 0; j < gpus.length; j++) {
      Arrays.fill(byType[j], gpus[j]);
    }
    return byType;
  }

  /**
   * Two jobs alike but for what one of them takes of the first type: it is better off elsewhere.
   */
  @Test
  void countsWhatAJobTakesOfEachType() {
    double[][] shares =
        SumOfRates.shares(
            new double[][] {{1, 1}, {1, 1}}, new int[][] {{8, 1}, {1, 1}}, new int[] {1, 1});
    assertThat(shares[0]).containsExactly(new double[] {0, 1}, within(1e-4));
    assertThat(shares[1]).containsExactly(new double[] {1, 0}, within(1e-4));
  }

  @Tag("slow")
  @Test
  void staysFeasibleAndSharesAlikeAmongEqualJobs() {
    SplittableRandom random = new SplittableRandom(3);
    for (int round = 0; round < 200; round++) {
      int jobs = 2 + random.nextInt(40);
      int[] capacity = {1 + random.nextInt(40), 16, 24};
      double[][] rates = new double[jobs][3];
      int[] gpus = new int[jobs];
      for (int j = 0; j < jobs; j++) {
        gpus[j] = 1 << random.nextInt(5);
        for (int t = 0; t < 3; t++) {
          rates[j][t] = random.nextInt(4) == 0 ? 0.1 : random.nextDouble(12);
        }
      }
      gpus[1] = gpus[0];
      rates[1] = rates[0];
      double[][] shares = SumOfRates.shares(rates, onEachType(gpus), capacity);
      double[] used = new double[3];
      for (int j = 0; j < jobs; j++) {
        assertThat(shares[j][0] + shares[j][1] + shares[j][2]).isBetween(0.0, 1.0);
        for (int t = 0; t < 3; t++) {
          used[t] += gpus[j] * shares[j][t];
        }
      }
      for (int t = 0; t < 3; t++) {
        assertThat(used[t]).as("round %d", round).isBetween(0.0, (double) capacity[t]);
      }
      assertThat(shares[1]).containsExactly(shares[0], within(1e-6));
    }
  }
}
