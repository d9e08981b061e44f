package dev.kastor.scheduler.policy.pollux;

import dev.kastor.scheduler.policy.support.Draws;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Pollux's mutation (OSDI 2021, section 4.2.2, as its published simulator has it): rows go back to
 * what is in force, rows are thinned, then jobs grow into the slots that are left.
 */
final class GenomeMutation {
  private static final long RESET_ROW = Draws.chance(0.1);
  private static final long THIN_ROW = Draws.chance(0.1);
  private static final long THIN_ENTRY = Draws.chance(0.1);

  private final PolluxProblem problem;
  private final NodeLanes lanes;
  private final int words;
  private final Draws draws;
  private final int[] fitting;
  private final int[] present;
  private final long[] free;
  private final long[] @Nullable [] growth;

  GenomeMutation(PolluxProblem problem, Draws draws) {
    this.problem = problem;
    this.draws = draws;
    lanes = problem.lanes;
    words = lanes.words;
    fitting = new int[problem.nodes];
    present = new int[problem.nodes];
    free = new long[words];
    growth = new long[problem.jobs + 1][];
    for (int n = 0; n < problem.nodes; n++) {
      for (int j = 0; j < problem.jobs; j++) {
        fitting[n] += problem.suits(j, n) ? 1 : 0;
      }
    }
  }

  /** Mutates the genome that begins at {@code base}. */
  void mutate(long[] cells, int base) {
    for (int j = 0; j < problem.jobs; j++) {
      int row = base + j * words;
      long draw = draws.next();
      if (Draws.upperHits(draw, RESET_ROW)) {
        System.arraycopy(problem.packedCurrent, j * words, cells, row, words);
      }
      if (Draws.lowerHits(draw, THIN_ROW)) {
        thin(cells, row);
      }
    }
    boolean room = false;
    for (int w = 0; w < words; w++) {
      long left = problem.packedCapacity[w];
      for (int at = base + w; at < base + problem.jobs * words; at += words) {
        left -= lanes.min(left, cells[at]);
      }
      free[w] = lanes.nonzero(left);
      room |= free[w] != 0;
    }
    if (room) {
      grow(cells, base);
    }
  }

  private void thin(long[] cells, int row) {
    for (int w = 0; w < words; w++) {
      long zeroed = 0;
      for (long left = lanes.nonzero(cells[row + w]); left != 0; left &= left - 1) {
        if (draws.hits(THIN_ENTRY)) {
          zeroed |= Long.lowestOneBit(left);
        }
      }
      cells[row + w] &= ~lanes.full(zeroed);
    }
  }

  /** Each job that could be on a node may grow there; those that are there, more often. */
  private void grow(long[] cells, int base) {
    countPresent(cells, base);
    for (int w = 0; w < words; w++) {
      for (long left = free[w]; left != 0; left &= left - 1) {
        int bit = Long.numberOfTrailingZeros(left);
        int n = lanes.node(w, bit);
        if (fitting[n] > 0) {
          growOn(cells, base + w, n, bit);
        }
      }
    }
  }

  private void growOn(long[] cells, int from, int n, int shift) {
    int capacity = problem.capacity[n];
    long[] chances = chances(fitting[n]);
    long absentChance = chances[0];
    long presentChance = chances[present[n]];
    long draw = 0;
    for (int j = 0; j < problem.jobs; j++) {
      int at = from + j * words;
      int here = lanes.bottom(cells[at] >>> shift);
      // One draw serves two jobs: first its upper half, then its lower one.
      draw = j % 2 == 0 ? draws.next() : draw << Integer.SIZE;
      if (Draws.upperHits(draw, here > 0 ? presentChance : absentChance)
          && here < capacity
          && problem.suits(j, n)) {
        cells[at] += lanes.at(shift, draws.below(capacity - here + 1));
      }
    }
  }

  /** By how many jobs are on a node: the chance that one of them grows; for none, of the others. */
  private long[] chances(int jobsThatFit) {
    long @Nullable [] known = growth[jobsThatFit];
    if (known == null) {
      known = new long[problem.jobs + 1];
      double byFit = 1.0 / jobsThatFit;
      for (int there = 0; there <= problem.jobs; there++) {
        double byPresence = there > 0 ? 1.0 / there : 0;
        known[there] = Draws.chance(byFit + byPresence - byFit * byPresence);
      }
      growth[jobsThatFit] = known;
    }
    return known;
  }

  private void countPresent(long[] cells, int base) {
    Arrays.fill(present, 0);
    for (int w = 0; w < words; w++) {
      for (int at = base + w; at < base + problem.jobs * words; at += words) {
        for (long left = lanes.nonzero(cells[at]) & free[w]; left != 0; left &= left - 1) {
          present[lanes.node(w, Long.numberOfTrailingZeros(left))]++;
        }
      }
    }
  }
}
