package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.policy.kastor.Rooms.Room;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Open bids as they are asked at one price after another. It takes hundreds of looks at all of them
 * to find the prices, so what a look reads lies in arrays, one bid after the other; those of a
 * queue with a quota stand side by side. Owned by one planning call.
 */
final class Market {
  private record Range(int from, int to) {}

  private final List<Bid> bids;
  private final Map<Room, Range> ranges = new HashMap<>();
  private final int[] capacity;
  private final boolean pricing;

  /** The first offer of each bid, and one more. */
  private final int[] first;

  private final int[] pool;
  private final int[] slots;
  private final double[] rate;
  private final double[] money;
  private final double[] weight;
  private final double[] delays;
  private final int[] mostSlots;
  private final double[] queuePrice;
  private final double[] worth;

  /**
   * The market of one round.
   *
   * @param capacity slots of each pool
   * @param money what a slot of each pool costs besides, in seconds of one job's time per second
   * @param pricing whether what a job takes from others counts
   */
  Market(List<Bid> open, Rooms rooms, int[] capacity, double[] money, boolean pricing) {
    this.capacity = capacity;
    this.pricing = pricing;
    bids = new ArrayList<>(open.size());
    for (Room room : rooms.all()) {
      ranges.put(room, new Range(bids.size(), bids.size() + room.bids.size()));
      bids.addAll(room.bids);
    }
    for (Bid bid : open) {
      if (bid.room == null) {
        bids.add(bid);
      }
    }
    int count = bids.size();
    first = new int[count + 1];
    for (int b = 0; b < count; b++) {
      first[b + 1] = first[b] + bids.get(b).offers.count();
    }
    pool = new int[first[count]];
    slots = new int[first[count]];
    rate = new double[first[count]];
    this.money = new double[first[count]];
    weight = new double[count];
    delays = new double[count];
    mostSlots = new int[count];
    queuePrice = new double[count];
    worth = new double[count];
    for (int b = 0; b < count; b++) {
      Bid bid = bids.get(b);
      Offers offers = bid.offers;
      weight[b] = bid.weight;
      delays[b] = bid.delays;
      mostSlots[b] = bid.mostSlots;
      for (int o = 0; o < offers.count(); o++) {
        int to = first[b] + o;
        pool[to] = offers.pool()[o];
        slots[to] = offers.slots()[o];
        rate[to] = offers.rate()[o];
        this.money[to] = money[pool[to]] * slots[to];
      }
    }
  }

  /** Adds up what all bids ask for of each pool at these prices. */
  void ask(double[] price, double[] demand) {
    Arrays.fill(demand, 0);
    for (int b = 0; b < worth.length; b++) {
      int best = look(b, price);
      if (best >= 0) {
        demand[pool[best]] += slots[best];
      }
    }
  }

  /**
   * Slots that the open bids of a queue ask for at these prices of pools and one of its own, which
   * they pay from now on.
   */
  long ask(Room room, double[] price, double own) {
    Range range = range(room);
    long asked = 0;
    for (int b = range.from(); b < range.to(); b++) {
      queuePrice[b] = own;
      int best = look(b, price);
      asked += best < 0 ? 0 : slots[best];
    }
    return asked;
  }

  /** What a slot costs the bids of a queue besides; 0 if it has none. */
  double queuePrice(Room room) {
    Range range = range(room);
    return range.from() == range.to() ? 0 : queuePrice[range.from()];
  }

  /** Tells the bids what they are worth at the last prices that they were asked at. */
  void settle() {
    for (int b = 0; b < worth.length; b++) {
      bids.get(b).worth = worth[b];
      bids.get(b).queuePrice = queuePrice[b];
    }
  }

  private Range range(Room room) {
    return ranges.getOrDefault(room, new Range(0, 0));
  }

  /** Values a bid at these prices; the answer is the offer that it asks for, -1 for none. */
  private int look(int bid, double[] price) {
    int end = first[bid + 1];
    double least = Double.POSITIVE_INFINITY;
    for (int o = first[bid]; o < end; o++) {
      double paid = delays[bid] * (price[pool[o]] + queuePrice[bid]) * slots[o];
      double cost = weight[bid] + (pricing ? paid : 0) + money[o];
      least = Math.min(least, cost / rate[o]);
    }
    worth[bid] = first[bid] == end ? 0 : least;
    int best = -1;
    double most = 0;
    for (int o = first[bid]; o < end; o++) {
      if (slots[o] > capacity[pool[o]] || slots[o] > mostSlots[bid]) {
        // No price makes room for it beside those who stay as they are.
        continue;
      }
      double gain = worth[bid] * rate[o] - money[o] - (price[pool[o]] + queuePrice[bid]) * slots[o];
      if (gain > most + 1e-12) {
        most = gain;
        best = o;
      }
    }
    return best;
  }
}
