package dev.kastor.scheduler.policy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Non-dominated fronts and crowding distances for two objectives to maximise (Deb et al., NSGA-II,
 * IEEE Transactions on Evolutionary Computation 2002, section III), in O(n log n).
 */
final class ParetoRanking {
  private ParetoRanking() {}

  /** Sets rank and crowding of all individuals; returns the fronts, best first. */
  static List<List<Individual>> rank(List<Individual> all) {
    List<Individual> sorted = new ArrayList<>(all);
    sorted.sort(
        Comparator.comparingDouble((Individual i) -> -i.fitness)
            .thenComparingDouble(i -> -i.utility));
    List<List<Individual>> fronts = new ArrayList<>();
    for (Individual individual : sorted) {
      int front = firstThatDoesNotDominate(fronts, individual);
      if (front == fronts.size()) {
        fronts.add(new ArrayList<>());
      }
      individual.rank = front;
      fronts.get(front).add(individual);
    }
    fronts.forEach(ParetoRanking::crowd);
    return fronts;
  }

  /** In sorted order the last member of a front has its highest utility: it alone need be asked. */
  private static int firstThatDoesNotDominate(List<List<Individual>> fronts, Individual one) {
    int low = 0;
    int high = fronts.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      Individual last = fronts.get(middle).getLast();
      boolean dominated =
          last.utility > one.utility || (last.utility == one.utility && last.fitness > one.fitness);
      if (dominated) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** A front is sorted by falling fitness and rising utility, so neighbours are adjacent. */
  private static void crowd(List<Individual> front) {
    int last = front.size() - 1;
    double[] crowding = new double[front.size()];
    if (last < 2) {
      Arrays.fill(crowding, Double.POSITIVE_INFINITY);
    } else {
      double fitnessSpan = front.getFirst().fitness - front.getLast().fitness;
      double utilitySpan = front.getLast().utility - front.getFirst().utility;
      crowding[0] = Double.POSITIVE_INFINITY;
      crowding[last] = Double.POSITIVE_INFINITY;
      for (int i = 1; i < last; i++) {
        Individual before = front.get(i - 1);
        Individual after = front.get(i + 1);
        crowding[i] =
            (share(before.fitness - after.fitness, fitnessSpan)
                    + share(after.utility - before.utility, utilitySpan))
                / 2;
      }
    }
    for (int i = 0; i <= last; i++) {
      front.get(i).crowding = crowding[i];
    }
  }

  private static double share(double distance, double span) {
    return span > 0 ? distance / span : 0;
  }

  /** One allocation matrix with its objectives; rank and crowding belong to the last ranking. */
  static final class Individual {
    final int[] genome;
    final double fitness;
    final double utility;
    int rank;
    double crowding;

    Individual(int[] genome, double fitness, double utility) {
      this.genome = genome;
      this.fitness = fitness;
      this.utility = utility;
    }
  }
}
