package dev.kastor.scheduler.policy.kastor;

import java.util.List;

/**
 * The prices of a slot of each pool at which demand meets supply, in seconds of all jobs' time per
 * slot second, and what jobs are worth at them.
 *
 * <p>To finish all jobs soon on average, allocations {@code r} must maximise {@code sum of worth *
 * rate(r)}, where the worth of a job's progress is what it saves: its own time, and the GPU time
 * that others wait for. A job that will hold {@code r} slots to its end saves {@code (1 + price *
 * r) / rate(r)} seconds with each example; it will choose the {@code r} for which that is least.
 * The price that it meets is today's for a job that ends soon; a job that outlasts others will find
 * their GPUs free, so its price falls with the number of jobs that outlast it (for jobs that scale
 * alike this gives the shares of heSRPT: Berg, Vesilo and Harchol-Balter, PERFORMANCE 2020).
 *
 * <p>What slots cost in money comes on top, in full and to the end of the job: {@code worth} is the
 * least of {@code (1 + price * r + money * r) / rate(r)}, and an offer gains {@code worth * rate(r)
 * - money * r - price * r}. So a slot costs its money at least, and a job that is alone takes the
 * size at which its own time and its money together are least.
 */
final class Prices {
  private static final int HALVINGS = 40;
  private static final int SWEEPS = 5;
  private static final double HIGHEST = 1e6;

  private final Market market;
  private final int[] capacity;
  private final Rooms rooms;
  private final double[] price;
  private final double[] demand;

  /**
   * A market.
   *
   * @param money what a slot of each pool costs besides, in seconds of one job's time per second
   */
  Prices(List<Bid> bids, int[] capacity, double[] money, boolean pricing) {
    this(bids, capacity, money, pricing, Rooms.NONE);
  }

  /** The same where queues have quotas. */
  Prices(List<Bid> bids, int[] capacity, double[] money, boolean pricing, Rooms rooms) {
    this.rooms = rooms;
    this.capacity = capacity;
    market = new Market(bids, rooms, capacity, money, pricing);
    price = new double[capacity.length];
    demand = new double[capacity.length];
  }

  /** Finds the prices and sets what each bid is worth at them. */
  double[] clear() {
    int sweeps = capacity.length == 1 && rooms.none() ? 1 : SWEEPS;
    RoomPrices quotas = new RoomPrices(rooms, market, price);
    for (int sweep = 0; sweep < sweeps; sweep++) {
      boolean moved = quotas.clear();
      for (int p = 0; p < price.length; p++) {
        double before = price[p];
        clear(p, sweep == 0 ? 0 : before);
        moved |= Math.abs(price[p] - before) > 1e-3 * before;
      }
      if (!moved) {
        break;
      }
    }
    look();
    market.settle();
    return price;
  }

  private void clear(int pool, double guess) {
    price[pool] = 0;
    look();
    if (demand[pool] <= capacity[pool]) {
      return;
    }
    double low = 0;
    double high = guess > 0 ? 2 * guess : 1.0 / Math.max(1, capacity[pool]);
    price[pool] = high;
    look();
    while (demand[pool] > capacity[pool] && high < HIGHEST) {
      low = high;
      high *= 4;
      price[pool] = high;
      look();
    }
    for (int i = 0; i < HALVINGS && high - low > 1e-6 * high; i++) {
      price[pool] = (low + high) / 2;
      look();
      if (demand[pool] > capacity[pool]) {
        low = price[pool];
      } else {
        high = price[pool];
      }
    }
    price[pool] = high;
  }

  /** Asks all bids what they want at the present prices. */
  private void look() {
    market.ask(price, demand);
  }
}
