package dev.kastor.scheduler.policy;

import java.util.SplittableRandom;

/** Makes any matrix a feasible allocation, changing as little as the published rules do. */
final class GenomeRepair {
  private final PolluxProblem problem;
  private final boolean oneDistributedJobPerNode;
  private final int[] order;

  GenomeRepair(PolluxProblem problem, boolean oneDistributedJobPerNode) {
    this.problem = problem;
    this.oneDistributedJobPerNode = oneDistributedJobPerNode;
    order = new int[problem.nodes];
    for (int n = 0; n < order.length; n++) {
      order[n] = n;
    }
  }

  void repair(int[] genome, SplittableRandom random) {
    if (oneDistributedJobPerNode) {
      separateDistributedJobs(genome);
    }
    for (int j = 0; j < problem.jobs; j++) {
      truncateToMaximum(genome, j, random);
    }
    for (int n = 0; n < problem.nodes; n++) {
      int left = problem.capacity[n];
      for (int j = 0; j < problem.jobs; j++) {
        int at = j * problem.nodes + n;
        genome[at] = Math.min(genome[at], left);
        left -= genome[at];
      }
    }
    for (int j = 0; j < problem.jobs; j++) {
      shrinkToAllowed(genome, j);
    }
  }

  private void separateDistributedJobs(int[] genome) {
    boolean[] taken = new boolean[problem.nodes];
    boolean[] distributed = new boolean[problem.jobs];
    for (int j = 0; j < problem.jobs; j++) {
      distributed[j] = problem.nodesOf(genome, j) > 1;
    }
    for (int j = 0; j < problem.jobs; j++) {
      for (int n = 0; distributed[j] && n < problem.nodes; n++) {
        int at = j * problem.nodes + n;
        if (genome[at] > 0 && taken[n]) {
          genome[at] = 0;
        }
        taken[n] |= genome[at] > 0;
      }
    }
  }

  private void truncateToMaximum(int[] genome, int j, SplittableRandom random) {
    int left = problem.maxReplicas(j);
    if (problem.replicas(genome, j) <= left) {
      return;
    }
    for (int i = order.length - 1; i > 0; i--) {
      int k = random.nextInt(i + 1);
      int swap = order[i];
      order[i] = order[k];
      order[k] = swap;
    }
    for (int n : order) {
      int at = j * problem.nodes + n;
      genome[at] = Math.min(genome[at], left);
      left -= genome[at];
    }
  }

  /** Down to the next allowed count, from the nodes with fewest replicas first; else to none. */
  private void shrinkToAllowed(int[] genome, int j) {
    int replicas = problem.replicas(genome, j);
    int target = replicas;
    while (!problem.allows(j, target)) {
      target--;
    }
    for (int excess = replicas - target; excess > 0; excess--) {
      genome[thinnest(genome, j)]--;
    }
  }

  /** Index of the smallest positive entry of a row that has one. */
  private int thinnest(int[] genome, int j) {
    int best = -1;
    for (int at = j * problem.nodes; at < (j + 1) * problem.nodes; at++) {
      if (genome[at] > 0 && (best < 0 || genome[at] < genome[best])) {
        best = at;
      }
    }
    return best;
  }
}
