package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.plan.QuotaAccount;
import dev.kastor.scheduler.policy.kastor.Rooms.Room;
import java.util.List;

/**
 * What a slot costs the bids of a queue on top of its pool's price, so that they ask for no more
 * than the queue may hold.
 *
 * <p>A queue has its quota first: it pays nothing for slots that it is entitled to as long as its
 * jobs leave some of them. What its cohort leaves it bids for against the other borrowers, who all
 * pay one price. So at a cohort's price {@code m} a queue holds the more of what it takes of its
 * own free of charge and what it would take, quota or not, at {@code m}; {@code m} is the least at
 * which what they draw together is there. The price of a queue is then that at which it asks for
 * that much.
 */
final class RoomPrices {
  private static final int HALVINGS = 30;
  private static final double EXACT = 1e-4;
  private static final double HIGHEST = 1e6;

  private final Rooms rooms;
  private final List<List<Room>> cohorts;
  private final Market market;
  private final double[] price;

  /**
   * The prices of some rooms.
   *
   * @param price of each pool, as it is at each call
   */
  RoomPrices(Rooms rooms, Market market, double[] price) {
    this.rooms = rooms;
    this.market = market;
    this.price = price;
    cohorts = rooms.cohorts();
  }

  /** Finds the prices, given those of the pools; true if one of them moved. */
  boolean clear() {
    double before = sum();
    for (List<Room> cohort : cohorts) {
      clear(cohort);
    }
    return Math.abs(sum() - before) > 1e-3 * before;
  }

  private double sum() {
    double sum = 0;
    for (Room room : rooms.all()) {
      sum += market.queuePrice(room);
    }
    return sum;
  }

  private void clear(List<Room> cohort) {
    long[] free = new long[cohort.size()];
    double guess = 0;
    for (int r = 0; r < free.length; r++) {
      guess = Math.max(guess, market.queuePrice(cohort.get(r)));
      free[r] = demand(cohort.get(r), 0);
    }
    if (within(cohort, free, free)) {
      return;
    }
    double shared = 0;
    if (!drawsAreThere(cohort, free, free)) {
      double low = 0;
      double high = guess > 0 ? 2 * guess : first(cohort);
      long[] asked = at(cohort, high);
      while (!drawsAreThere(cohort, free, asked) && high < HIGHEST) {
        low = high;
        high *= 4;
        asked = at(cohort, high);
      }
      for (int i = 0; i < HALVINGS && high - low > EXACT * high; i++) {
        double middle = (low + high) / 2;
        if (drawsAreThere(cohort, free, at(cohort, middle))) {
          high = middle;
        } else {
          low = middle;
        }
      }
      shared = high;
    }
    for (int r = 0; r < free.length; r++) {
      Room room = cohort.get(r);
      long asked = demand(room, shared);
      long own = claim(room.account, free[r]);
      long most = most(room.account);
      if (asked > most) {
        down(room, most, shared, Math.max(2 * shared, first(cohort)));
      } else if (asked < own && shared > 0) {
        down(room, own, 0, shared);
      }
    }
  }

  private static double first(List<Room> cohort) {
    long slots = 1;
    for (Room room : cohort) {
      slots += room.account.nominal();
    }
    return 1.0 / slots;
  }

  /** The least price above the low one at which a queue asks for no more than so much. */
  private void down(Room room, long most, double from, double guess) {
    double low = from;
    double high = guess;
    if (demand(room, low) <= most) {
      return;
    }
    while (demand(room, high) > most && high < HIGHEST) {
      low = high;
      high *= 4;
    }
    for (int i = 0; i < HALVINGS && high - low > EXACT * high; i++) {
      double middle = (low + high) / 2;
      if (demand(room, middle) > most) {
        low = middle;
      } else {
        high = middle;
      }
    }
    demand(room, high);
  }

  private long[] at(List<Room> cohort, double own) {
    long[] asked = new long[cohort.size()];
    for (int r = 0; r < asked.length; r++) {
      asked[r] = demand(cohort.get(r), own);
    }
    return asked;
  }

  /** What a queue holds and asks for at a price of its own, which its bids pay from now on. */
  private long demand(Room room, double own) {
    return room.account.used() + market.ask(room, price, own);
  }

  private boolean within(List<Room> cohort, long[] free, long[] asked) {
    for (int r = 0; r < asked.length; r++) {
      if (asked[r] > most(cohort.get(r).account)) {
        return false;
      }
    }
    return drawsAreThere(cohort, free, asked);
  }

  /** Whether what queues draw on each other is there, when each has its own for free. */
  private static boolean drawsAreThere(List<Room> cohort, long[] free, long[] asked) {
    long drawn = 0;
    for (int r = 0; r < asked.length; r++) {
      QuotaAccount account = cohort.get(r).account;
      long held = Math.max(claim(account, free[r]), Math.min(asked[r], most(account)));
      drawn += account.draws(held);
    }
    return drawn <= cohort.getFirst().account.lentByCohort();
  }

  private static long claim(QuotaAccount account, long free) {
    return Math.min(account.nominal(), free);
  }

  private static long most(QuotaAccount account) {
    return account.most();
  }
}
