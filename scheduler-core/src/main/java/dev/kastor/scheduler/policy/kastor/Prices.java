package dev.kastor.scheduler.policy.kastor;

import java.util.Arrays;
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

  private final List<Bid> bids;
  private final int[] capacity;
  private final double[] money;
  private final boolean pricing;
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
    this.bids = bids;
    this.capacity = capacity;
    this.money = money;
    this.pricing = pricing;
    price = new double[capacity.length];
    demand = new double[capacity.length];
  }

  /** Finds the prices and sets what each bid is worth at them. */
  double[] clear() {
    int sweeps = capacity.length == 1 && rooms.none() ? 1 : SWEEPS;
    RoomPrices quotas = new RoomPrices(rooms, this::demanded);
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

  /** Values all bids at the present prices and adds up what they ask for. */
  private void look() {
    Arrays.fill(demand, 0);
    for (Bid bid : bids) {
      int best = look(bid);
      if (best >= 0) {
        demand[bid.offers.pool()[best]] += bid.offers.slots()[best];
      }
    }
  }

  private int demanded(Bid bid) {
    int best = look(bid);
    return best < 0 ? 0 : bid.offers.slots()[best];
  }

  /** Values a bid at the present prices; the answer is the offer that it asks for, -1 for none. */
  private int look(Bid bid) {
    Offers offers = bid.offers;
    int count = offers.count();
    double worth = Double.POSITIVE_INFINITY;
    for (int o = 0; o < count; o++) {
      double paid = bid.delays * (price[offers.pool()[o]] + bid.queuePrice) * offers.slots()[o];
      double cost = bid.weight + (pricing ? paid : 0) + money(offers, o);
      worth = Math.min(worth, cost / offers.rate()[o]);
    }
    bid.worth = count == 0 ? 0 : worth;
    int best = -1;
    double most = 0;
    for (int o = 0; o < count; o++) {
      int slots = offers.slots()[o];
      if (slots > capacity[offers.pool()[o]] || slots > bid.mostSlots) {
        // No price makes room for it beside those who stay as they are.
        continue;
      }
      double gain =
          bid.worth * offers.rate()[o]
              - money(offers, o)
              - (price[offers.pool()[o]] + bid.queuePrice) * slots;
      if (gain > most + 1e-12) {
        most = gain;
        best = o;
      }
    }
    return best;
  }

  private double money(Offers offers, int offer) {
    return money[offers.pool()[offer]] * offers.slots()[offer];
  }
}
