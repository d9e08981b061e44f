package dev.kastor.scheduler.policy.pollux;

import dev.kastor.scheduler.policy.support.Draws;
import java.util.Arrays;

/**
 * Makes any matrix a feasible allocation, changing as little as the published rules do: at most one
 * distributed job on a node, no job beyond its maximum, no node beyond its slots (jobs that come
 * first in the genome win), only whole replicas on each node, and only counts that the job allows.
 */
final class GenomeRepair {
  private static final int FAITHFUL_SPAN = 16;

  private final PolluxProblem problem;
  private final NodeLanes lanes;
  private final int words;
  private final Draws draws;
  private final boolean faithful;
  private final int span;
  private final long[] taken;
  private final long[] blocked;
  private final long[] left;
  private final int[] spots;

  /** Jobs that all slots together would be too many for. */
  private final boolean[] bounded;

  /**
   * @param faithful whether to keep distributed jobs apart and within 16 nodes, as published
   */
  GenomeRepair(PolluxProblem problem, boolean faithful, Draws draws) {
    this.problem = problem;
    this.faithful = faithful;
    span = faithful ? FAITHFUL_SPAN : problem.nodes;
    this.draws = draws;
    lanes = problem.lanes;
    words = lanes.words;
    taken = new long[words];
    blocked = new long[words];
    left = new long[words];
    spots = new int[problem.nodes];
    bounded = new boolean[problem.jobs];
    int all = Arrays.stream(problem.capacity).sum();
    for (int j = 0; j < problem.jobs; j++) {
      bounded[j] = problem.maxSlots(j) < all || problem.nodes > span;
    }
  }

  /** Repairs the genome that begins at {@code base}. */
  void repair(long[] cells, int base) {
    System.arraycopy(problem.packedCapacity, 0, left, 0, words);
    if (faithful) {
      Arrays.fill(taken, 0);
      Arrays.fill(blocked, 0);
    }
    for (int j = 0; j < problem.jobs; j++) {
      int row = base + j * words;
      if (problem.choosy) {
        for (int w = 0; w < words; w++) {
          cells[row + w] &= problem.packedSuits[j * words + w];
        }
      }
      if (faithful) {
        keepApart(cells, row);
      }
      if (bounded[j]) {
        truncate(cells, row, problem.maxSlots(j));
      }
      for (int w = 0; w < words; w++) {
        long kept = lanes.min(cells[row + w], left[w]);
        cells[row + w] = kept;
        left[w] -= kept;
      }
      if (problem.slotsPerReplica(j) > 1) {
        dropSplitReplicas(cells, row, problem.slotsPerReplica(j));
      }
      if (!problem.allowsAnyCount(j)) {
        shrinkToAllowed(cells, row, j);
      }
    }
  }

  /** Where two distributed jobs meet on a node, the second and all that follow lose it. */
  private void keepApart(long[] cells, int row) {
    int used = 0;
    for (int w = 0; w < words; w++) {
      used += Long.bitCount(lanes.nonzero(cells[row + w]));
    }
    for (int w = 0; w < words; w++) {
      if (used > 1) {
        long here = lanes.nonzero(cells[row + w]);
        blocked[w] |= taken[w] & here;
        taken[w] |= here;
      }
      cells[row + w] &= ~lanes.full(blocked[w]);
    }
  }

  /** Keeps nodes in random order until the maximum is reached. */
  private void truncate(long[] cells, int row, int most) {
    int slots = 0;
    for (int w = 0; w < words; w++) {
      slots += lanes.sum(cells[row + w]);
    }
    if (slots <= most && problem.nodes <= span) {
      return;
    }
    int count = 0;
    for (int w = 0; w < words; w++) {
      for (long rest = lanes.nonzero(cells[row + w]); rest != 0; rest &= rest - 1) {
        spots[count++] = w * Long.SIZE + Long.numberOfTrailingZeros(rest);
      }
    }
    if (slots <= most && count <= span) {
      return;
    }
    int room = most;
    for (int kept = 0; kept < count; kept++) {
      int pick = kept + draws.below(count - kept);
      int spot = spots[pick];
      spots[pick] = spots[kept];
      int at = row + spot / Long.SIZE;
      int shift = spot % Long.SIZE;
      int here = lanes.bottom(cells[at] >>> shift);
      int stays = kept < span ? Math.min(here, room) : 0;
      cells[at] -= lanes.at(shift, here - stays);
      room -= stays;
    }
  }

  /** Gives up what a node has beyond whole replicas. */
  private void dropSplitReplicas(long[] cells, int row, int slotsPerReplica) {
    for (int n = 0; n < problem.nodes; n++) {
      int at = row + lanes.word(n);
      int beyond = lanes.bottom(cells[at] >>> lanes.shift(n)) % slotsPerReplica;
      cells[at] -= lanes.at(lanes.shift(n), beyond);
      left[lanes.word(n)] += lanes.at(lanes.shift(n), beyond);
    }
  }

  /** Down to the next allowed count, from the nodes with fewest replicas first; else to none. */
  private void shrinkToAllowed(long[] cells, int row, int j) {
    int slots = 0;
    for (int w = 0; w < words; w++) {
      slots += lanes.sum(cells[row + w]);
    }
    int each = problem.slotsPerReplica(j);
    int target = slots;
    while (!problem.allows(j, target)) {
      target -= each;
    }
    for (int excess = slots - target; excess > 0; excess -= each) {
      int n = thinnest(cells, row);
      long one = lanes.at(lanes.shift(n), each);
      cells[row + lanes.word(n)] -= one;
      left[lanes.word(n)] += one;
    }
  }

  /** The node with the smallest positive count of a row that has one. */
  private int thinnest(long[] cells, int row) {
    int best = -1;
    int least = Integer.MAX_VALUE;
    for (int n = 0; n < problem.nodes; n++) {
      int here = lanes.bottom(cells[row + lanes.word(n)] >>> lanes.shift(n));
      if (here > 0 && here < least) {
        best = n;
        least = here;
      }
    }
    return best;
  }
}
