package dev.kastor.scheduler.policy.pollux;

/**
 * Greedy improvement of an allocation: gives idle slots to whoever gains most, and makes room for
 * waiting jobs.
 *
 * <p>Pollux leaves both to chance mutations; with it no slot stays idle that a job could use, and
 * fewer generations suffice.
 */
final class SlotFiller {
  // A job is disturbed only for a gain that its model can tell from noise.
  private static final double LEAST_GAIN = 1.02;

  private final PolluxProblem problem;

  SlotFiller(PolluxProblem problem) {
    this.problem = problem;
  }

  /** Adds replicas on free slots while that helps some job; takes nothing away. */
  int[] fill(int[] start) {
    int[] genome = start.clone();
    int[] free = problem.free(genome);
    while (true) {
      double bestGain = 0;
      int bestJob = -1;
      int bestExtra = 0;
      int idle = 0;
      for (int left : free) {
        idle += Math.max(0, left);
      }
      for (int j = 0; j < problem.jobs && idle > 0; j++) {
        int slots = problem.slots(genome, j);
        double before = problem.worth(genome, j);
        int most = Math.min(problem.maxSlots(j) - slots, idle);
        int each = problem.slotsPerReplica(j);
        for (int extra = each; extra <= most; extra += each) {
          if (!problem.allows(j, slots + extra)) {
            continue;
          }
          int[] grown = genome.clone();
          if (!place(grown, free.clone(), j, extra)) {
            break;
          }
          double after = problem.worth(grown, j);
          // Per slot, so that a large step of one job does not beat small steps of several.
          double gain = (PolluxProblem.loss(before) - PolluxProblem.loss(after)) / extra;
          if (after > before * LEAST_GAIN && gain > bestGain) {
            bestGain = gain;
            bestJob = j;
            bestExtra = extra;
          }
        }
      }
      if (bestJob < 0) {
        return genome;
      }
      place(genome, free, bestJob, bestExtra);
    }
  }

  /**
   * Shrinks those who lose least until each waiting job has its minimum, where that is possible.
   */
  int[] makeRoom(int[] start) {
    int[] genome = start.clone();
    for (int j = 0; j < problem.jobs; j++) {
      if (problem.slots(genome, j) > 0) {
        continue;
      }
      int each = problem.slotsPerReplica(j);
      int wanted = each;
      while (wanted < problem.maxSlots(j) && !problem.allows(j, wanted)) {
        wanted += each;
      }
      int[] tried = genome.clone();
      boolean placed = place(tried, problem.free(tried), j, wanted);
      while (!placed && shrinkCheapest(tried, j)) {
        placed = place(tried, problem.free(tried), j, wanted);
      }
      if (placed) {
        genome = tried;
      }
    }
    return genome;
  }

  private boolean shrinkCheapest(int[] genome, int waiting) {
    int[] best = null;
    double bestLoss = Double.POSITIVE_INFINITY;
    for (int j = 0; j < problem.jobs; j++) {
      int slots = problem.slots(genome, j);
      int each = problem.slotsPerReplica(j);
      int target = slots - each;
      while (target > 0 && !problem.allows(j, target)) {
        target -= each;
      }
      if (j == waiting || target <= 0) {
        continue;
      }
      int[] shrunk = genome.clone();
      for (int excess = slots - target; excess > 0; excess -= each) {
        takeOne(shrunk, j, waiting);
      }
      double loss =
          PolluxProblem.loss(problem.worth(shrunk, j))
              - PolluxProblem.loss(problem.worth(genome, j));
      if (loss < bestLoss) {
        bestLoss = loss;
        best = shrunk;
      }
    }
    if (best == null) {
      return false;
    }
    System.arraycopy(best, 0, genome, 0, genome.length);
    return true;
  }

  /**
   * One replica from the node with fewest of them, among those that the waiting job can use first.
   */
  private void takeOne(int[] genome, int j, int waiting) {
    int best = -1;
    for (int n = 0; n < problem.nodes; n++) {
      int at = j * problem.nodes + n;
      if (genome[at] == 0) {
        continue;
      }
      boolean better =
          best < 0
              || (problem.suits(waiting, n) && !problem.suits(waiting, best))
              || (problem.suits(waiting, n) == problem.suits(waiting, best)
                  && genome[at] < genome[j * problem.nodes + best]);
      if (better) {
        best = n;
      }
    }
    genome[j * problem.nodes + best] -= problem.slotsPerReplica(j);
  }

  /**
   * Adds replicas of {@code extra} slots of a job on free slots: on one node if it fits, where the
   * job already is if possible, else over the fullest-free nodes. False, with nothing useful in the
   * arguments, if there is not enough room.
   */
  private boolean place(int[] genome, int[] free, int j, int extra) {
    int single = -1;
    for (int n = 0; n < problem.nodes; n++) {
      if (problem.suits(j, n) && free[n] >= extra && tighter(genome, free, j, n, single)) {
        single = n;
      }
    }
    if (single >= 0) {
      genome[j * problem.nodes + single] += extra;
      free[single] -= extra;
      return true;
    }
    int each = problem.slotsPerReplica(j);
    int room = 0;
    for (int n = 0; n < problem.nodes; n++) {
      room += problem.suits(j, n) ? Math.max(0, free[n]) / each * each : 0;
    }
    if (room < extra) {
      return false;
    }
    for (int left = extra; left > 0; ) {
      int widest = -1;
      for (int n = 0; n < problem.nodes; n++) {
        if (problem.suits(j, n) && free[n] > 0 && (widest < 0 || free[n] > free[widest])) {
          widest = n;
        }
      }
      int here = Math.min(left, free[widest] / each * each);
      genome[j * problem.nodes + widest] += here;
      free[widest] -= here;
      left -= here;
    }
    return true;
  }

  private boolean tighter(int[] genome, int[] free, int j, int n, int than) {
    if (than < 0) {
      return true;
    }
    boolean here = genome[j * problem.nodes + n] > 0;
    boolean there = genome[j * problem.nodes + than] > 0;
    return here != there ? here : free[n] < free[than];
  }
}
