package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.policy.solve.MultipleChoice;
import dev.kastor.scheduler.policy.solve.MultipleChoiceTable;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Which offer each bid gets, so that their values add up to the most within the pools.
 *
 * <p>First by price: each bid takes what gains it most at the clearing prices, and what is left
 * over goes to the upgrades of most value a slot. Then, where the budget allows, exactly, by a
 * table over used slots. The prices also bound what any answer can be worth (weak duality).
 */
final class Shares {
  /**
   * An answer.
   *
   * @param offer the offer of each bid, -1 for nothing
   * @param value what they add up to
   * @param bound no answer is worth more
   */
  @SuppressWarnings("ArrayRecordComponent") // goes straight to the packing, never compared
  record Given(int[] offer, double value, double bound) {}

  private final List<Bid> bids;
  private final int[] capacity;
  private final double[] price;
  private final double budget;
  private final Rooms rooms;

  Shares(List<Bid> bids, int[] capacity, double[] price, double budget) {
    this(bids, capacity, price, budget, Rooms.NONE);
  }

  /** The same where queues have quotas. */
  Shares(List<Bid> bids, int[] capacity, double[] price, double budget, Rooms rooms) {
    this.rooms = rooms;
    this.bids = bids;
    this.capacity = capacity;
    this.price = price;
    this.budget = budget;
  }

  Given divide() {
    int[] mark = rooms.mark();
    int[] byPrice = byPrice();
    rooms.reset(mark);
    double bound = bound();
    double value = value(byPrice);
    if (value >= bound * (1 - 1e-9)) {
      return new Given(byPrice, value, bound);
    }
    MultipleChoiceTable table = table();
    if (table.work() > budget) {
      return new Given(byPrice, value, bound);
    }
    int[] exact = table.solve();
    double best = value(exact);
    return best > value && legal(exact)
        ? new Given(exact, best, best)
        : new Given(byPrice, value, value);
  }

  /** The table knows pools alone. */
  private boolean legal(int[] chosen) {
    if (rooms.none()) {
      return true;
    }
    int[] mark = rooms.mark();
    for (int b = 0; b < chosen.length; b++) {
      Rooms.take(bids.get(b), chosen[b] < 0 ? 0 : bids.get(b).offers.slots()[chosen[b]]);
    }
    boolean legal = rooms.kept();
    rooms.reset(mark);
    return legal;
  }

  private MultipleChoiceTable table() {
    List<List<MultipleChoice.Choice>> choices = new ArrayList<>();
    for (Bid bid : bids) {
      List<MultipleChoice.Choice> own = new ArrayList<>();
      for (int o = 0; o < bid.value.length; o++) {
        own.add(
            new MultipleChoice.Choice(
                o, bid.offers.pool()[o], bid.offers.slots()[o], -bid.value[o]));
      }
      choices.add(own);
    }
    return new MultipleChoiceTable(choices, capacity);
  }

  private double value(int[] chosen) {
    double sum = 0;
    for (int b = 0; b < chosen.length; b++) {
      sum += chosen[b] < 0 ? 0 : bids.get(b).value[chosen[b]];
    }
    return sum;
  }

  private double bound() {
    double bound = 0;
    for (int p = 0; p < price.length; p++) {
      bound += price[p] * capacity[p];
    }
    for (Rooms.Room room : rooms.all()) {
      bound += room.bids.isEmpty() ? 0 : room.bids.getFirst().queuePrice * room.account.ceiling();
    }
    for (Bid bid : bids) {
      int best = best(bid, price);
      bound += best < 0 ? 0 : gain(bid, best, price);
    }
    return bound;
  }

  private int[] byPrice() {
    int[] chosen = new int[bids.size()];
    int[] left = capacity.clone();
    for (int b = 0; b < chosen.length; b++) {
      Bid bid = bids.get(b);
      int best = best(bid, price);
      if (best >= 0
          && (bid.offers.slots()[best] > left[bid.offers.pool()[best]]
              || !Rooms.fits(bid, bid.offers.slots()[best]))) {
        // Changes cost something, so that demand at the prices may differ from the worth's.
        best = -1;
      }
      chosen[b] = best;
      if (best >= 0) {
        left[bid.offers.pool()[best]] -= bid.offers.slots()[best];
        Rooms.take(bid, bid.offers.slots()[best]);
      }
    }
    upgrade(chosen, left);
    if (!rooms.none()) {
      // What those who claimed it cannot use is free to all.
      int[] claims = rooms.claims();
      rooms.unclaimed();
      upgrade(chosen, left);
      rooms.claimAgain(claims);
    }
    return chosen;
  }

  private record Upgrade(int bid, int to, double perSlot) {}

  /** Gives what is left to whom it helps most, slot for slot. */
  private void upgrade(int[] chosen, int[] left) {
    PriorityQueue<Upgrade> queue =
        new PriorityQueue<>((x, y) -> {
          int order = Double.compare(y.perSlot(), x.perSlot());
          return order != 0 ? order : Integer.compare(x.bid(), y.bid());
        });
    for (int b = 0; b < chosen.length; b++) {
      offer(queue, b, chosen[b], left);
    }
    while (!queue.isEmpty()) {
      Upgrade next = queue.poll();
      Bid bid = bids.get(next.bid());
      int from = chosen[next.bid()];
      int extra = extra(bid, from, next.to());
      int more = bid.offers.slots()[next.to()] - (from < 0 ? 0 : bid.offers.slots()[from]);
      if (extra <= left[bid.offers.pool()[next.to()]] && Rooms.fits(bid, more)) {
        Rooms.take(bid, more);
        release(bid, from, left);
        left[bid.offers.pool()[next.to()]] -= bid.offers.slots()[next.to()];
        chosen[next.bid()] = next.to();
      }
      Upgrade again = find(next.bid(), chosen[next.bid()], left);
      if (again != null) {
        queue.add(again);
      }
    }
  }

  private static void release(Bid bid, int offer, int[] left) {
    if (offer >= 0) {
      left[bid.offers.pool()[offer]] += bid.offers.slots()[offer];
    }
  }

  private static int extra(Bid bid, int from, int to) {
    int wanted = bid.offers.slots()[to];
    boolean same = from >= 0 && bid.offers.pool()[from] == bid.offers.pool()[to];
    return same ? wanted - bid.offers.slots()[from] : wanted;
  }

  private void offer(PriorityQueue<Upgrade> queue, int b, int from, int[] left) {
    Upgrade found = find(b, from, left);
    if (found != null) {
      queue.add(found);
    }
  }

  private @Nullable Upgrade find(int b, int from, int[] left) {
    Bid bid = bids.get(b);
    double now = from < 0 ? 0 : bid.value[from];
    Upgrade best = null;
    for (int o = 0; o < bid.value.length; o++) {
      int extra = extra(bid, from, o);
      double gain = bid.value[o] - now;
      int more = bid.offers.slots()[o] - (from < 0 ? 0 : bid.offers.slots()[from]);
      if (gain > 1e-12 && extra <= left[bid.offers.pool()[o]] && Rooms.fits(bid, more)) {
        double perSlot = gain / Math.max(1, extra);
        if (best == null || perSlot > best.perSlot()) {
          best = new Upgrade(b, o, perSlot);
        }
      }
    }
    return best;
  }

  /** The offer of most gain at these prices; -1 for none. What is held wins among equals. */
  static int best(Bid bid, double[] price) {
    return best(bid, price, bid.queuePrice);
  }

  /** The same were its queue's quota to cost so much. */
  static int best(Bid bid, double[] price, double queuePrice) {
    int best = bid.held >= 0 && gain(bid, bid.held, price, queuePrice) > 0 ? bid.held : -1;
    double most = best < 0 ? 0 : gain(bid, best, price, queuePrice);
    for (int o = 0; o < bid.value.length; o++) {
      double gain = gain(bid, o, price, queuePrice);
      if (gain > most + 1e-12) {
        most = gain;
        best = o;
      }
    }
    return best;
  }

  private static double gain(Bid bid, int offer, double[] price) {
    return gain(bid, offer, price, bid.queuePrice);
  }

  private static double gain(Bid bid, int offer, double[] price, double queuePrice) {
    return bid.value[offer]
        - (price[bid.offers.pool()[offer]] + queuePrice) * bid.offers.slots()[offer];
  }
}
