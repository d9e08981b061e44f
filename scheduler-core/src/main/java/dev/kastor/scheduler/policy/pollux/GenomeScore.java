package dev.kastor.scheduler.policy.pollux;

/** Computes both objectives of packed genomes; owned by its search. */
final class GenomeScore {
  private final PolluxProblem problem;
  private final NodeLanes lanes;
  private final int words;
  private final long[] inUse;

  GenomeScore(PolluxProblem problem) {
    this.problem = problem;
    lanes = problem.lanes;
    words = lanes.words;
    inUse = new long[words];
  }

  /** Sets fitness and utility of a slot: {@link PolluxProblem#fitness}, and likewise. */
  void score(Genomes genomes, int slot) {
    long[] cells = genomes.cells;
    int row = slot * genomes.stride;
    double losses = 0;
    double speedups = 0;
    for (int w = 0; w < words; w++) {
      inUse[w] = 0;
    }
    for (int j = 0; j < problem.jobs; j++) {
      int used = 0;
      int slots = 0;
      long difference = 0;
      for (int w = 0; w < words; w++) {
        long word = cells[row + w];
        long here = lanes.nonzero(word);
        used += Long.bitCount(here);
        slots += lanes.sum(word);
        difference |= word ^ problem.packedCurrent[j * words + w];
        inUse[w] |= here;
      }
      double speedup = problem.speedup(j, used, slots);
      speedups += speedup;
      losses += PolluxProblem.loss(problem.worth(j, speedup, difference != 0));
      row += words;
    }
    genomes.fitness[slot] = problem.jobs / losses;
    int slots = slotsInUse();
    genomes.utility[slot] = slots == 0 ? 0 : speedups / slots;
  }

  private int slotsInUse() {
    int slots = 0;
    for (int w = 0; w < words; w++) {
      if (problem.equalSlots > 0) {
        slots += problem.equalSlots * Long.bitCount(inUse[w]);
      } else {
        for (long left = inUse[w]; left != 0; left &= left - 1) {
          slots += problem.slots(lanes.node(w, Long.numberOfTrailingZeros(left)));
        }
      }
    }
    return slots;
  }
}
