package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.Allocation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * For each pool the two jobs to which one more of its offers would have been worth most a slot: who
 * else wanted the GPUs that a job got. Owned by one planning call.
 */
final class Contenders {
  /**
   * A job that did not get what it bid for.
   *
   * @param perSlot what it would have gained with each further slot
   */
  record Contender(Bid bid, double perSlot) {}

  private final Pools pools;
  private final @Nullable Contender[] first;
  private final @Nullable Contender[] second;

  Contenders(List<Bid> bids, Allocation[] allocations, Pools pools) {
    this.pools = pools;
    first = new Contender[pools.count()];
    second = new Contender[pools.count()];
    for (Bid bid : bids) {
      add(bid, allocations[bid.index]);
    }
  }

  /** The one next in line for slots of a pool but for this bid; null if nobody wanted more. */
  @Nullable Contender besides(Bid bid, int pool) {
    Contender best = first[pool];
    return best == null || best.bid().index != bid.index ? best : second[pool];
  }

  private void add(Bid bid, Allocation given) {
    int here = pools.of(given);
    int offer = bid.offers.find(here, given.slots());
    double now = offer < 0 ? 0 : bid.value[offer];
    double[] perSlot = new double[first.length];
    for (int o = 0; o < bid.value.length; o++) {
      int pool = bid.offers.pool()[o];
      int extra = bid.offers.slots()[o] - (pool == here ? given.slots() : 0);
      if (extra > 0) {
        perSlot[pool] = Math.max(perSlot[pool], (bid.value[o] - now) / extra);
      }
    }
    for (int p = 0; p < perSlot.length; p++) {
      if (perSlot[p] > 0) {
        rank(new Contender(bid, perSlot[p]), p);
      }
    }
  }

  private void rank(Contender contender, int pool) {
    Contender best = first[pool];
    Contender next = second[pool];
    if (best == null || contender.perSlot() > best.perSlot()) {
      second[pool] = best;
      first[pool] = contender;
    } else if (next == null || contender.perSlot() > next.perSlot()) {
      second[pool] = contender;
    }
  }
}
