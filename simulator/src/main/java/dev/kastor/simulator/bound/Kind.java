package dev.kastor.simulator.bound;

import dev.kastor.traces.Application;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Jobs that differ in their arrival alone, and what each of them would do at given prices.
 *
 * <p>Work is cut into {@value #CELLS} cells and time into slots. Seconds and prices from a slot and
 * a cell to the end follow from those of the next slot (dynamic programming); between two cells
 * they are interpolated.
 */
final class Kind {
  private static final int CELLS = 400;
  private static final int PARTS_OF_CELL = 20;
  private static final int LAST = CELLS;

  /** Cells between two values of {@link #ahead} that are kept. */
  private static final int STRIDE = 8;

  /** Values of {@link #ahead} by time slot. */
  static final int VALUES = CELLS / STRIDE + 1;

  private final Object butForWork;
  private final Pools pools;
  private final List<Way> ways;
  private final double slotSeconds;
  private final List<Double> arrivals;

  /** Seconds from the beginning to each cell, by way. */
  private final double[][] reached;

  /** Cell that a job reaches in one time slot from each cell, by way: the one below its place. */
  private final int[][] below;

  /** Share of the next cell that it has reached besides. */
  private final double[][] above;

  /** Seconds of the slot that it is busy. */
  private final double[][] busy;

  /** Seconds to the end at the fastest pace of each cell. */
  private final double[] fastest;

  /**
   * Jobs without an arrival so far.
   *
   * @param butForWork equal for kinds that differ in their work alone
   */
  Kind(
      Application application, Object butForWork, Pools pools, List<Way> ways, double slotSeconds) {
    this.butForWork = butForWork;
    this.pools = pools;
    arrivals = new ArrayList<>();
    fastest = new double[CELLS + 1];
    this.ways = ways;
    this.slotSeconds = slotSeconds;
    int count = ways.size();
    reached = new double[count][CELLS + 1];
    below = new int[count][CELLS + 1];
    above = new double[count][CELLS + 1];
    busy = new double[count][CELLS + 1];
    double[][] seconds = new double[count][];
    for (int w = 0; w < count; w++) {
      seconds[w] = cells(application, ways.get(w).pace());
      for (int c = 0; c < CELLS; c++) {
        reached[w][c + 1] = reached[w][c] + seconds[w][c];
      }
      lead(w);
    }
    for (int c = CELLS - 1; c >= 0; c--) {
      double least = Double.POSITIVE_INFINITY;
      for (int w = 0; w < count; w++) {
        least = Math.min(least, seconds[w][c]);
      }
      fastest[c] = fastest[c + 1] + least;
    }
  }

  private Kind(Kind like, List<Double> arrivals) {
    butForWork = like.butForWork;
    pools = like.pools;
    ways = like.ways;
    slotSeconds = like.slotSeconds;
    this.arrivals = new ArrayList<>(arrivals);
    reached = like.reached;
    below = like.below;
    above = like.above;
    busy = like.busy;
    fastest = like.fastest;
  }

  /** The same with other arrivals. */
  Kind with(List<Double> others) {
    return new Kind(this, others);
  }

  /** What is equal for kinds that differ in their work alone. */
  Object butForWork() {
    return butForWork;
  }

  /** Seconds that each cell takes. */
  private static double[] cells(Application application, double[] pace) {
    double total = application.progressAt(application.epochs());
    double part = total / (CELLS * PARTS_OF_CELL);
    double[] seconds = new double[CELLS];
    int epoch = 0;
    for (int p = 0; p < CELLS * PARTS_OF_CELL; p++) {
      double middle = (p + 0.5) * part;
      while (epoch + 1 < pace.length && middle >= application.progressAt(epoch + 1)) {
        epoch++;
      }
      seconds[p / PARTS_OF_CELL] += part / pace[epoch];
    }
    return seconds;
  }

  private void lead(int way) {
    double[] at = reached[way];
    int to = 0;
    for (int c = 0; c <= CELLS; c++) {
      double until = at[c] + slotSeconds;
      while (to < CELLS && at[to + 1] <= until) {
        to++;
      }
      below[way][c] = to;
      above[way][c] = to == CELLS ? 0 : (until - at[to]) / (at[to + 1] - at[to]);
      busy[way][c] = Math.min(slotSeconds, at[CELLS] - at[c]);
    }
  }

  void arrives(double seconds) {
    arrivals.add(seconds);
  }

  int jobs() {
    return arrivals.size();
  }

  /** Seconds that its work takes where nobody else is there. */
  double alone() {
    return fastest[0];
  }

  List<Way> ways() {
    return ways;
  }

  List<Double> arrivals() {
    return arrivals;
  }

  /** Fewest slot seconds that its work takes, whatever the pool. */
  double cheapest() {
    double least = Double.POSITIVE_INFINITY;
    for (int w = 0; w < ways.size(); w++) {
      least = Math.min(least, reached[w][CELLS] * ways.get(w).slots());
    }
    return least;
  }

  /** The only pool that it can use, or {@link Way#ANY_POOL} where there are several. */
  int onlyPool() {
    List<Integer> used = ways.stream().map(Way::pool).distinct().toList();
    return used.size() == 1 ? used.getFirst() : Way.ANY_POOL;
  }

  /**
   * Least seconds and prices from each time slot to the end, and after the last time slot, for
   * {@value #VALUES} places of the work; {@link #at} reads them.
   */
  float[][] ahead(double[][] price) {
    int slots = price[0].length;
    float[][] kept = new float[slots + 1][];
    double[] ahead = fastest;
    kept[slots] = thinned(ahead);
    for (int t = slots - 1; t >= 0; t--) {
      double[] now = new double[CELLS + 1];
      best(price, t, ahead, now);
      kept[t] = thinned(now);
      ahead = now;
    }
    return kept;
  }

  private static float[] thinned(double[] values) {
    float[] thin = new float[VALUES];
    for (int v = 0; v < VALUES; v++) {
      thin[v] = (float) values[v * STRIDE];
    }
    return thin;
  }

  /** Value at a place of the work, in cells. */
  static double at(float[] values, double place) {
    double scaled = place / STRIDE;
    int low = Math.min(VALUES - 2, (int) scaled);
    return values[low] + (scaled - low) * (values[low + 1] - values[low]);
  }

  static boolean done(double place) {
    return place >= CELLS - 1e-9;
  }

  /** Seconds that it would still take from a place of its work in one way. */
  double left(int way, double place) {
    return reached[way][CELLS] - between(reached[way], Math.min(CELLS - 1, (int) place), place);
  }

  /** Place of the work after a time slot in one way. */
  double after(int way, double place) {
    double[] at = reached[way];
    double until = at[CELLS] - left(way, place) + slotSeconds;
    if (until >= at[CELLS]) {
      return CELLS;
    }
    int found = Arrays.binarySearch(at, until);
    int low = found >= 0 ? found : -found - 2;
    return low + (until - at[low]) / (at[low + 1] - at[low]);
  }

  /**
   * Least seconds and prices of all these jobs.
   *
   * @param price of a slot second, by pool and time slot
   * @param use slots that they hold on average, by pool and time slot, to which this adds
   */
  double answer(double[][] price, double[][] use) {
    int slots = price[0].length;
    short[][] chosen = new short[slots][];
    double[] ahead = fastest;
    double[] cost = new double[slots];
    for (int t = slots - 1; t >= 0; t--) {
      double[] now = new double[CELLS + 1];
      chosen[t] = best(price, t, ahead, now);
      cost[t] = now[0];
      ahead = now;
    }
    double total = 0;
    for (double arrival : arrivals) {
      int t = (int) (arrival / slotSeconds);
      // It may begin with the slot in which it arrives: what it could not use is credited to it.
      total += Math.max(0, cost[t] - (arrival - t * slotSeconds));
      follow(chosen, t, price, use);
    }
    return total;
  }

  /** The best way from each cell in a time slot; -1 is to wait. */
  private short[] best(double[][] price, int t, double[] ahead, double[] now) {
    short[] chosen = new short[CELLS + 1];
    for (int c = 0; c < CELLS; c++) {
      now[c] = slotSeconds + ahead[c];
      chosen[c] = -1;
    }
    for (int w = 0; w < below.length; w++) {
      Way way = ways.get(w);
      double rate = 1 + pools.cost(way, price, t);
      int[] low = below[w];
      double[] share = above[w];
      double[] held = busy[w];
      for (int c = 0; c < CELLS; c++) {
        int to = low[c];
        double rest = to == LAST ? 0 : ahead[to] + share[c] * (ahead[to + 1] - ahead[to]);
        double all = held[c] * rate + rest;
        if (all <= now[c]) {
          now[c] = all;
          chosen[c] = (short) w;
        }
      }
    }
    return chosen;
  }

  private void follow(short[][] chosen, int from, double[][] price, double[][] use) {
    double at = 0;
    for (int t = from; t < chosen.length && at < CELLS - 1e-9; t++) {
      int way = chosen[t][(int) Math.min(CELLS - 1, Math.round(at))];
      if (way >= 0) {
        Way run = ways.get(way);
        int low = (int) at;
        double share = at - low;
        double held = between(busy[way], low, at);
        pools.take(run, held / slotSeconds, price, t, use);
        double lower = below[way][low] + above[way][low];
        double upper = below[way][low + 1] + above[way][low + 1];
        at = lower + share * (upper - lower);
      }
    }
  }

  private static double between(double[] values, int low, double place) {
    return values[low] + (place - low) * (values[low + 1] - values[low]);
  }
}
