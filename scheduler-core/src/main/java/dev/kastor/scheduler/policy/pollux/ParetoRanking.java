package dev.kastor.scheduler.policy.pollux;

/**
 * Non-dominated fronts and crowding distances for two objectives to maximise (Deb et al., NSGA-II,
 * IEEE Transactions on Evolutionary Computation 2002, section III), in O(n log n). Of genomes with
 * equal objectives all but the first have no distance, as in the library that Pollux was published
 * with. Owned by its search.
 */
final class ParetoRanking {
  private final Genomes genomes;
  private final int[] sorted;
  private final int[] merged;
  private final int[] frontOf;
  private final double[] lastFitness;
  private final double[] lastUtility;
  private final int[] starts;
  private int fronts;

  /** A ranking of at most {@code most} genomes. */
  ParetoRanking(Genomes genomes, int most) {
    this.genomes = genomes;
    sorted = new int[most];
    merged = new int[most];
    frontOf = new int[most];
    lastFitness = new double[most];
    lastUtility = new double[most];
    starts = new int[most + 1];
  }

  /**
   * Sets rank and crowding of all given slots and orders them: by front, and within a front by
   * falling fitness, equal ones as they were.
   */
  void rank(int[] slots, int count) {
    sort(slots, count);
    fronts = 0;
    for (int i = 0; i < count; i++) {
      int slot = sorted[i];
      int front = firstThatDoesNotDominate(slot);
      if (front == fronts) {
        starts[fronts++] = 0;
      }
      lastFitness[front] = genomes.fitness[slot];
      lastUtility[front] = genomes.utility[slot];
      frontOf[i] = front;
      genomes.rank[slot] = front;
      starts[front]++;
    }
    int from = 0;
    for (int f = 0; f < fronts; f++) {
      int size = starts[f];
      starts[f] = from;
      from += size;
    }
    starts[fronts] = count;
    for (int i = 0; i < count; i++) {
      slots[starts[frontOf[i]]++] = sorted[i];
    }
    for (int f = fronts - 1; f > 0; f--) {
      starts[f] = starts[f - 1];
    }
    starts[0] = 0;
    for (int f = 0; f < fronts; f++) {
      crowd(slots, starts[f], starts[f + 1]);
    }
  }

  /** How many fronts the last ranking found. */
  int fronts() {
    return fronts;
  }

  /**
   * Where a front of the last ranking begins among its slots; for the number of fronts, the end.
   */
  int start(int front) {
    return starts[front];
  }

  /** In sorted order the last member of a front has its highest utility: it alone need be asked. */
  private int firstThatDoesNotDominate(int slot) {
    double utility = genomes.utility[slot];
    int low = 0;
    int high = fronts;
    while (low < high) {
      int middle = (low + high) >>> 1;
      boolean dominates =
          lastUtility[middle] > utility
              || (lastUtility[middle] == utility && lastFitness[middle] > genomes.fitness[slot]);
      if (dominates) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** A front is sorted by falling fitness and rising utility, so neighbours are adjacent. */
  private void crowd(int[] slots, int from, int to) {
    int first = slots[from];
    int last = slots[to - 1];
    double fitnessSpan = genomes.fitness[first] - genomes.fitness[last];
    double utilitySpan = genomes.utility[last] - genomes.utility[first];
    int before = -1;
    for (int i = from; i < to; ) {
      int slot = slots[i];
      int next = i + 1;
      while (next < to && same(slots[next], slot)) {
        genomes.crowding[slots[next]] = to - from > 2 ? 0 : Double.POSITIVE_INFINITY;
        next++;
      }
      genomes.crowding[slot] =
          before < 0 || next == to
              ? Double.POSITIVE_INFINITY
              : (share(genomes.fitness[before] - genomes.fitness[slots[next]], fitnessSpan)
                      + share(genomes.utility[slots[next]] - genomes.utility[before], utilitySpan))
                  / 2;
      before = slot;
      i = next;
    }
  }

  private boolean same(int one, int other) {
    return genomes.fitness[one] == genomes.fitness[other]
        && genomes.utility[one] == genomes.utility[other];
  }

  private static double share(double distance, double span) {
    return span > 0 ? distance / span : 0;
  }

  /** Stable merge sort by falling fitness, then falling utility, from runs of one upwards. */
  private void sort(int[] slots, int count) {
    int passes = Integer.SIZE - Integer.numberOfLeadingZeros(count - 1);
    // The two arrays change roles with each pass; the last one must end where it is read.
    int[] from = passes % 2 == 0 ? sorted : merged;
    int[] to = passes % 2 == 0 ? merged : sorted;
    System.arraycopy(slots, 0, from, 0, count);
    for (int run = 1; run < count; run *= 2) {
      for (int start = 0; start < count; start += 2 * run) {
        merge(from, to, start, Math.min(start + run, count), Math.min(start + 2 * run, count));
      }
      int[] swap = from;
      from = to;
      to = swap;
    }
  }

  private void merge(int[] from, int[] to, int start, int middle, int end) {
    int left = start;
    int right = middle;
    for (int at = start; at < end; at++) {
      boolean takeLeft = left < middle && (right >= end || !comesBefore(from[right], from[left]));
      to[at] = takeLeft ? from[left++] : from[right++];
    }
  }

  private boolean comesBefore(int one, int other) {
    double difference = genomes.fitness[one] - genomes.fitness[other];
    return difference > 0 || (difference == 0 && genomes.utility[one] > genomes.utility[other]);
  }
}
