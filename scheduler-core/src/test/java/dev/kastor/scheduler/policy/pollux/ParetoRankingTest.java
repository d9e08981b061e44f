package dev.kastor.scheduler.policy.pollux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ParetoRankingTest {
  private static Genomes genomes(double[]... objectives) {
    Genomes genomes = new Genomes(objectives.length, 1);
    for (int i = 0; i < objectives.length; i++) {
      genomes.fitness[i] = objectives[i][0];
      genomes.utility[i] = objectives[i][1];
    }
    return genomes;
  }

  private static int[] ranked(Genomes genomes) {
    int[] slots = IntStream.range(0, genomes.fitness.length).toArray();
    new ParetoRanking(genomes, slots.length).rank(slots, slots.length);
    return slots;
  }

  @Test
  void peelsFrontsAsTheDefinitionDoes() {
    SplittableRandom random = new SplittableRandom(1);
    for (int trial = 0; trial < 100; trial++) {
      double[][] objectives = new double[1 + random.nextInt(60)][];
      for (int i = 0; i < objectives.length; i++) {
        objectives[i] = new double[] {random.nextInt(12), random.nextInt(12)};
      }
      Genomes genomes = genomes(objectives);
      ranked(genomes);
      for (int i = 0; i < objectives.length; i++) {
        int expected = 0;
        for (int j = 0; j < objectives.length; j++) {
          if (genomes.dominates(j, i)) {
            expected = Math.max(expected, genomes.rank[j] + 1);
          }
        }
        assertThat(genomes.rank[i]).isEqualTo(expected);
      }
    }
  }

  @Test
  void ordersAFrontByFitnessAndMeasuresHowFarItsMembersLieApart() {
    Genomes genomes =
        genomes(new double[] {1, 4}, new double[] {3, 2}, new double[] {5, 0}, new double[] {2, 3});
    assertThat(ranked(genomes)).containsExactly(2, 1, 3, 0);
    assertThat(genomes.crowding)
        .containsExactly(Double.POSITIVE_INFINITY, 0.75, Double.POSITIVE_INFINITY, 0.5);
  }

  @Test
  void givesNoDistanceToTheSecondOfTwoEqualGenomes() {
    Genomes genomes =
        genomes(new double[] {1, 4}, new double[] {3, 2}, new double[] {5, 0}, new double[] {3, 2});
    ranked(genomes);
    assertThat(genomes.crowding[1]).isEqualTo(1);
    assertThat(genomes.crowding[3]).isZero();
  }
}
