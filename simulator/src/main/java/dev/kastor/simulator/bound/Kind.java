package dev.kastor.simulator.bound;

import dev.kastor.traces.Application;
import java.util.ArrayList;
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

  private final List<TruePaces.Way> ways;
  private final double slotSeconds;
  private final List<Double> arrivals = new ArrayList<>();

  /** Seconds from the beginning to each cell, by way. */
  private final double[][] reached;

  /** Cell that a job reaches in one time slot from each cell, by way: the one below its place. */
  private final int[][] below;

  /** Share of the next cell that it has reached besides. */
  private final double[][] above;

  /** Seconds of the slot that it is busy. */
  private final double[][] busy;

  /** Seconds to the end at the fastest pace of each cell. */
  private final double[] fastest = new double[CELLS + 1];

  Kind(Application application, List<TruePaces.Way> ways, double slotSeconds) {
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

  /** Fewest slot seconds that its work takes, whatever the pool. */
  double cheapest() {
    double least = Double.POSITIVE_INFINITY;
    for (int w = 0; w < ways.size(); w++) {
      least = Math.min(least, reached[w][CELLS] * ways.get(w).slots());
    }
    return least;
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
      follow(chosen, t, use);
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
      TruePaces.Way way = ways.get(w);
      double rate = 1 + price[way.pool()][t] * way.slots();
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

  private void follow(short[][] chosen, int from, double[][] use) {
    double at = 0;
    for (int t = from; t < chosen.length && at < CELLS - 1e-9; t++) {
      int way = chosen[t][(int) Math.min(CELLS - 1, Math.round(at))];
      if (way >= 0) {
        TruePaces.Way run = ways.get(way);
        int low = (int) at;
        double share = at - low;
        double held = between(busy[way], low, share);
        use[run.pool()][t] += run.slots() * held / slotSeconds;
        double lower = below[way][low] + above[way][low];
        double upper = below[way][low + 1] + above[way][low + 1];
        at = lower + share * (upper - lower);
      }
    }
  }

  private static double between(double[] values, int low, double share) {
    return values[low] + share * (values[low + 1] - values[low]);
  }
}
