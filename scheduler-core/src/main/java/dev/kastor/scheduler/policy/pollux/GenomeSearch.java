package dev.kastor.scheduler.policy.pollux;

import dev.kastor.scheduler.policy.support.Draws;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * NSGA-II over allocation matrices with Pollux's crossover, mutation and repair (OSDI 2021, section
 * 4.2.2). Deterministic in its random generator; used once.
 */
final class GenomeSearch {
  private static final long CROSSOVER = Draws.chance(0.9);
  private static final long KEY_INDEX = 0xFFFF;
  private static final int MATING_ROUNDS = 8;
  private static final int FAITHFUL_MATING_ROUNDS = 101;

  private final PolluxProblem problem;
  private final GeneticSearch options;
  private final Draws draws;
  private final GenomeMutation mutation;
  private final GenomeRepair repair;
  private final GenomeScore score;

  GenomeSearch(PolluxProblem problem, GeneticSearch options, SplittableRandom random) {
    this.problem = problem;
    this.options = options;
    draws = new Draws(random);
    mutation = new GenomeMutation(problem, draws);
    repair = new GenomeRepair(problem, options.published(), draws);
    score = new GenomeScore(problem);
  }

  int[] repaired(int[] genome) {
    long[] cells = problem.packed(genome);
    repair.repair(cells, 0);
    return problem.unpacked(cells, 0);
  }

  /** The first front of the last generation, fittest first; seeds are repaired before use. */
  List<int[]> run(List<int[]> seeds) {
    return new Evolution(Math.max(seeds.size(), options.population())).run(seeds);
  }

  /** The generations of one search: which slots are in the population, which are free. */
  private final class Evolution {
    private final Genomes genomes;
    private final ParetoRanking ranking;

    /** Slots of the population, then of its offspring, then free ones. */
    private final int[] slots;

    private final int[] deck;
    private final long[] keys;
    private int population;
    private int drawn;

    Evolution(int most) {
      int all = most + options.population();
      genomes = new Genomes(all + 2, problem.jobs * problem.lanes.words);
      ranking = new ParetoRanking(genomes, all);
      slots = new int[all + 2];
      for (int i = 0; i < slots.length; i++) {
        slots[i] = i;
      }
      deck = new int[all];
      keys = new long[all];
    }

    List<int[]> run(List<int[]> seeds) {
      int count = 0;
      for (int[] seed : seeds) {
        int slot = slots[count];
        long[] packed = problem.packed(seed);
        System.arraycopy(packed, 0, genomes.cells, slot * genomes.stride, genomes.stride);
        repair.repair(genomes.cells, slot * genomes.stride);
        count += admit(slot) ? 1 : 0;
      }
      select(count);
      double best = fittest();
      int stagnant = 0;
      for (int g = 1; g < options.generations() && stagnant < options.patience(); g++) {
        int offspring = mate();
        if (offspring == 0) {
          break;
        }
        select(population + offspring);
        double fittest = fittest();
        stagnant = fittest > best ? 0 : stagnant + 1;
        best = Math.max(best, fittest);
      }
      ranking.rank(slots, population);
      List<int[]> front = new ArrayList<>();
      for (int i = 0; i < population && genomes.rank[slots[i]] == 0; i++) {
        front.add(problem.unpacked(genomes.cells, slots[i] * genomes.stride));
      }
      return front;
    }

    private double fittest() {
      double best = 0;
      for (int i = 0; i < population; i++) {
        best = Math.max(best, genomes.fitness[slots[i]]);
      }
      return best;
    }

    private boolean admit(int slot) {
      boolean fresh = genomes.remember(slot);
      if (fresh) {
        score.score(genomes, slot);
      }
      return fresh;
    }

    /** Ranks the first {@code count} slots and keeps the best of them as the population. */
    private void select(int count) {
      ranking.rank(slots, count);
      population = Math.min(count, options.population());
      for (int f = 0; f < ranking.fronts() && ranking.start(f) < population; f++) {
        if (ranking.start(f + 1) > population) {
          keepLeastCrowded(ranking.start(f), ranking.start(f + 1));
        }
      }
      genomes.forget();
      for (int i = 0; i < population; i++) {
        genomes.remember(slots[i]);
      }
    }

    /** Brings those of a front to its fore that lie farthest apart; ties by chance. */
    private void keepLeastCrowded(int from, int to) {
      for (int i = from; i < to; i++) {
        swap(slots, i, i + draws.below(to - i));
        deck[i - from] = slots[i];
        // Bits of a double that is not negative have its order; the last ones make room for i.
        long crowding = Double.doubleToRawLongBits(genomes.crowding[slots[i]]);
        keys[i - from] = (crowding & ~KEY_INDEX) | (i - from);
      }
      Arrays.sort(keys, 0, to - from);
      for (int i = from; i < to; i++) {
        slots[i] = deck[(int) (keys[to - 1 - i] & KEY_INDEX)];
      }
    }

    /** Fills slots after the population with offspring that are not known; returns how many. */
    private int mate() {
      int wanted = options.population();
      int rounds = options.published() ? FAITHFUL_MATING_ROUNDS : MATING_ROUNDS;
      int born = 0;
      for (int round = 0; round < rounds && born < wanted; round++) {
        int pairs = (wanted - born + 1) / 2;
        shuffleAnew();
        for (int pair = 0; pair < pairs; pair++) {
          // Two free slots lie behind those born: children that are known leave them free.
          int first = slots[population + born];
          int second = slots[population + born + 1];
          cross(tournament(), tournament(), first, second);
          boolean firstStays = develop(first);
          boolean secondStays = develop(second);
          if (!firstStays && secondStays) {
            swap(slots, population + born, population + born + 1);
          }
          born += (firstStays ? 1 : 0) + (secondStays ? 1 : 0);
        }
      }
      return Math.min(born, wanted);
    }

    private boolean develop(int child) {
      int base = child * genomes.stride;
      mutation.mutate(genomes.cells, base);
      repair.repair(genomes.cells, base);
      return admit(child);
    }

    private void cross(int one, int other, int first, int second) {
      int stride = genomes.stride;
      int cut = draws.hits(CROSSOVER) ? draws.below(problem.jobs) * problem.lanes.words : 0;
      System.arraycopy(genomes.cells, other * stride, genomes.cells, first * stride, cut);
      System.arraycopy(
          genomes.cells, one * stride + cut, genomes.cells, first * stride + cut, stride - cut);
      System.arraycopy(genomes.cells, one * stride, genomes.cells, second * stride, cut);
      System.arraycopy(
          genomes.cells, other * stride + cut, genomes.cells, second * stride + cut, stride - cut);
    }

    private int tournament() {
      int one = draw();
      int other = draw();
      if (genomes.dominates(one, other)) {
        return one;
      }
      if (genomes.dominates(other, one)) {
        return other;
      }
      if (genomes.crowding[one] != genomes.crowding[other]) {
        return genomes.crowding[one] > genomes.crowding[other] ? one : other;
      }
      return draws.below(2) == 0 ? one : other;
    }

    private void shuffleAnew() {
      System.arraycopy(slots, 0, deck, 0, population);
      drawn = 0;
    }

    /** The next candidate of a random permutation of the population, then of another one. */
    private int draw() {
      if (drawn == population) {
        drawn = 0;
      }
      swap(deck, drawn, drawn + draws.below(population - drawn));
      return deck[drawn++];
    }
  }

  private static void swap(int[] array, int i, int j) {
    int kept = array[i];
    array[i] = array[j];
    array[j] = kept;
  }
}
