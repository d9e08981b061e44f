package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.Reason;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Says with numbers why each job gets what it gets. Owned by one planning call. */
final class Explanations {
  private final double[] price;
  private final Shares.Given given;
  private final Pools pools;
  private final String[] contender;

  Explanations(
      List<Bid> bids, Allocation[] allocations, double[] price, Shares.Given given, Pools pools) {
    this.price = price;
    this.given = given;
    this.pools = pools;
    contender = contenders(bids, allocations);
  }

  /** For each pool the job to which one more of its offers would have been worth most a slot. */
  private String[] contenders(List<Bid> bids, Allocation[] allocations) {
    String[] names = new String[pools.count()];
    double[] most = new double[pools.count()];
    for (Bid bid : bids) {
      int got = allocations[bid.index].replicas();
      double now = 0;
      for (int o = 0; o < bid.value.length; o++) {
        now = bid.offers.slots()[o] == got ? Math.max(now, bid.value[o]) : now;
      }
      for (int o = 0; o < bid.value.length; o++) {
        int extra = bid.offers.slots()[o] - got;
        int pool = bid.offers.pool()[o];
        double perSlot = extra > 0 ? (bid.value[o] - now) / extra : 0;
        if (perSlot > most[pool]) {
          most[pool] = perSlot;
          names[pool] = bid.job.id().toString();
        }
      }
    }
    return names;
  }

  Reason of(Bid bid, Allocation allocation) {
    Allocation before = bid.job.allocation();
    if (allocation.isEmpty()) {
      return waits(bid, before);
    }
    Integer node = pools.indexByName().get(allocation.node(0));
    int pool = node == null ? -1 : pools.poolOf()[node];
    int offer = bid.offers.find(pool, allocation.replicas());
    SequencedMap<String, Double> numbers = numbers(bid, offer, pool);
    if (bid.job.pinned()) {
      return new Reason("Pinned", "Its allocation must stay as it is.", numbers);
    }
    String rival =
        contender[pool] == null || bid.job.id().toString().equals(contender[pool])
            ? "Nobody else would gain from them."
            : "Next in line for them: %s.".formatted(contender[pool]);
    if (allocation.equals(before)) {
      return new Reason("Kept", "No change would gain more than its pause costs.", numbers);
    }
    if (before.isEmpty()) {
      return new Reason("Started", "Its progress is worth the GPUs' price. " + rival, numbers);
    }
    if (allocation.replicas() == before.replicas()) {
      return new Reason("Moved", "It makes room for a job that needs whole nodes.", numbers);
    }
    return allocation.replicas() > before.replicas()
        ? new Reason("Grown", "More GPUs save more time than they cost others. " + rival, numbers)
        : new Reason("Shrunk", "Others gain more from its GPUs. " + rival, numbers);
  }

  private Reason waits(Bid bid, Allocation before) {
    SequencedMap<String, Double> numbers = new LinkedHashMap<>();
    int cheapest = -1;
    for (int o = 0; o < bid.value.length; o++) {
      if (cheapest < 0 || bid.offers.slots()[o] < bid.offers.slots()[cheapest]) {
        cheapest = o;
      }
    }
    if (cheapest < 0) {
      return Reason.of(
          "NoFittingNodes", "No node type that it runs on has room for its least size.");
    }
    int slots = bid.offers.slots()[cheapest];
    numbers.put("leastSlots", (double) slots);
    numbers.put("bidPerSlot", bid.value[cheapest] / slots);
    numbers.put("pricePerSlot", price[bid.offers.pool()[cheapest]]);
    numbers.put("remainingSeconds", bid.remaining);
    return before.isEmpty()
        ? new Reason("Waiting", "The GPUs save more time elsewhere.", numbers)
        : new Reason("Stopped", "The GPUs save more time elsewhere.", numbers);
  }

  private SequencedMap<String, Double> numbers(Bid bid, int offer, int pool) {
    SequencedMap<String, Double> numbers = new LinkedHashMap<>();
    if (offer >= 0) {
      numbers.put("goodput", bid.offers.rate()[offer]);
      numbers.put("remainingSeconds", bid.left(bid.offers.rate()[offer]));
      numbers.put("value", bid.value[offer]);
    }
    if (bid.held >= 0) {
      numbers.put("goodputBefore", bid.offers.rate()[bid.held]);
      numbers.put("pauseSeconds", bid.pause());
    }
    if (pool >= 0) {
      numbers.put("pricePerSlot", price[pool]);
    }
    numbers.put("planBelowBound", given.bound() > 0 ? 1 - given.value() / given.bound() : 0);
    return numbers;
  }
}
