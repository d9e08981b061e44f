package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.policy.ParetoRanking.Individual;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * NSGA-II over allocation matrices with Pollux's crossover, mutation and repair (OSDI 2021, section
 * 4.2.2). Deterministic in its random generator; used once. Genomes are never written once they are
 * individuals, so buffers around them serve to compare them by content.
 */
final class GenomeSearch {
  private static final double CROSSOVER = 0.9;
  private static final double RESET_ROW = 0.1;
  private static final double THIN_ROW = 0.1;
  private static final double THIN_ENTRY = 0.1;
  private static final int MATING_ROUNDS = 8;
  private static final int FAITHFUL_MATING_ROUNDS = 100;

  private final PolluxProblem problem;
  private final PolicyOptions.GeneticSearch options;
  private final GenomeRepair repair;
  private final SplittableRandom random;

  GenomeSearch(
      PolluxProblem problem, PolicyOptions.GeneticSearch options, SplittableRandom random) {
    this.problem = problem;
    this.options = options;
    this.random = random;
    repair = new GenomeRepair(problem, options.faithful());
  }

  int[] repaired(int[] genome) {
    int[] copy = genome.clone();
    repair.repair(copy, random);
    return copy;
  }

  /** The first front of the last generation, fittest first; seeds are repaired before use. */
  List<Individual> run(List<int[]> seeds) {
    Set<IntBuffer> known = new HashSet<>();
    List<Individual> population = new ArrayList<>();
    for (int[] seed : seeds) {
      add(population, known, repaired(seed), Integer.MAX_VALUE);
    }
    population = survivors(population);
    double best = population.getFirst().fitness;
    int stagnant = 0;
    for (int g = 1; g < options.generations() && stagnant < options.patience(); g++) {
      List<Individual> offspring = mate(population, known);
      if (offspring.isEmpty()) {
        break;
      }
      population.addAll(offspring);
      population = survivors(population);
      known.clear();
      population.forEach(individual -> known.add(IntBuffer.wrap(individual.genome)));
      stagnant = population.getFirst().fitness > best ? 0 : stagnant + 1;
      best = Math.max(best, population.getFirst().fitness);
    }
    return ParetoRanking.rank(population).getFirst();
  }

  private List<Individual> survivors(List<Individual> all) {
    List<Individual> kept = new ArrayList<>(options.population());
    for (List<Individual> front : ParetoRanking.rank(all)) {
      int room = options.population() - kept.size();
      if (front.size() > room) {
        // The fittest of a front lies at its end of infinite crowding, so it always survives.
        front.sort(Comparator.comparingDouble(individual -> -individual.crowding));
        kept.addAll(front.subList(0, room));
        break;
      }
      kept.addAll(front);
    }
    return kept;
  }

  private List<Individual> mate(List<Individual> population, Set<IntBuffer> known) {
    List<Individual> offspring = new ArrayList<>();
    int rounds = options.faithful() ? FAITHFUL_MATING_ROUNDS : MATING_ROUNDS;
    for (int round = 0; round < rounds && offspring.size() < options.population(); round++) {
      for (int pair = offspring.size(); pair < options.population(); pair += 2) {
        int[] first = tournament(population).genome.clone();
        int[] second = tournament(population).genome.clone();
        if (random.nextDouble() < CROSSOVER) {
          swapRows(first, second, random.nextInt(problem.jobs));
        }
        for (int[] child : List.of(first, second)) {
          mutate(child);
          repair.repair(child, random);
          add(offspring, known, child, options.population());
        }
      }
    }
    return offspring;
  }

  private void add(List<Individual> to, Set<IntBuffer> known, int[] genome, int limit) {
    if (to.size() < limit && known.add(IntBuffer.wrap(genome))) {
      to.add(new Individual(genome, problem.fitness(genome), problem.utility(genome)));
    }
  }

  private Individual tournament(List<Individual> population) {
    Individual one = population.get(random.nextInt(population.size()));
    Individual other = population.get(random.nextInt(population.size()));
    if (one.rank != other.rank) {
      return one.rank < other.rank ? one : other;
    }
    if (one.crowding != other.crowding) {
      return one.crowding > other.crowding ? one : other;
    }
    return random.nextBoolean() ? one : other;
  }

  private void swapRows(int[] first, int[] second, int rows) {
    for (int i = 0; i < rows * problem.nodes; i++) {
      int swap = first[i];
      first[i] = second[i];
      second[i] = swap;
    }
  }

  private void mutate(int[] genome) {
    int nodes = problem.nodes;
    for (int j = 0; j < problem.jobs; j++) {
      if (random.nextDouble() < RESET_ROW) {
        System.arraycopy(problem.current, j * nodes, genome, j * nodes, nodes);
      }
      if (random.nextDouble() < THIN_ROW) {
        for (int n = 0; n < nodes; n++) {
          if (random.nextDouble() < THIN_ENTRY) {
            genome[j * nodes + n] = 0;
          }
        }
      }
    }
    int[] free = problem.free(genome);
    for (int n = 0; n < nodes; n++) {
      if (free[n] > 0) {
        grow(genome, n);
      }
    }
  }

  /** Each job that could be on the node may grow there; those that are there, more often. */
  private void grow(int[] genome, int n) {
    int fitting = 0;
    int present = 0;
    for (int j = 0; j < problem.jobs; j++) {
      fitting += problem.suits(j, n) ? 1 : 0;
      present += genome[j * problem.nodes + n] > 0 ? 1 : 0;
    }
    for (int j = 0; j < problem.jobs; j++) {
      int at = j * problem.nodes + n;
      if (!problem.suits(j, n)) {
        continue;
      }
      double byFit = 1.0 / fitting;
      double byPresence = genome[at] > 0 ? 1.0 / present : 0;
      if (random.nextDouble() < byFit + byPresence - byFit * byPresence
          && genome[at] < problem.capacity[n]) {
        genome[at] = random.nextInt(genome[at], problem.capacity[n] + 1);
      }
    }
  }
}
