package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.ReasonNumber;
import dev.kastor.scheduler.policy.quota.QuotaReasons;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;

/** Says with numbers why each job gets what it gets. Owned by one planning call. */
final class Explanations {
  private final double[] price;
  private final Shares.Given given;
  private final Pools pools;
  private final Map<Integer, Bid> movedFor;
  private final Contenders contenders;

  /**
   * What is needed to say why.
   *
   * @param movedFor for whom jobs had to leave their nodes, by index
   */
  Explanations(
      List<Bid> bids,
      Allocation[] allocations,
      double[] price,
      Shares.Given given,
      Pools pools,
      Map<Integer, Bid> movedFor) {
    this.movedFor = movedFor;
    this.price = price;
    this.given = given;
    this.pools = pools;
    contenders = new Contenders(bids, allocations, pools);
  }

  Reason of(Bid bid, Allocation allocation) {
    Allocation before = bid.job.allocation();
    int pool = pools.of(allocation);
    int offer = bid.offers.find(pool, allocation.slots());
    SequencedMap<String, Double> numbers = numbers(bid, offer, pool, allocation.slots());
    if (bid.job.pinned()) {
      return new Reason("Pinned", "Its allocation must stay as it is.", numbers);
    }
    if (allocation.isEmpty()) {
      return waits(bid, before);
    }
    if (bid.settledSeconds > 0) {
      numbers.put("secondsUntilChange", bid.settledSeconds);
      if (bid.ending) {
        return new Reason("Ending", "It ends sooner than a change would pause it.", numbers);
      }
      return new Reason(
          "JustChanged", "It got this only just now and keeps it for a while.", numbers);
    }
    if (allocation.equals(before)) {
      return new Reason("Kept", "No change would gain more than its pause costs.", numbers);
    }
    if (allocation.slots() < before.slots() && reclaimed(bid)) {
      return QuotaReasons.reclaimed(Objects.requireNonNull(bid.room).account, numbers);
    }
    String rival = rival(bid, pool, numbers);
    if (before.isEmpty()) {
      return new Reason(
          "Started", "It gains more from these GPUs than others would. " + rival, numbers);
    }
    if (allocation.slots() == before.slots()) {
      return new Reason("Moved", moved(bid, offer, before, pool), numbers);
    }
    if (allocation.slots() > before.slots()) {
      return new Reason(
          "Grown", "It gains more from further GPUs than others would. " + rival, numbers);
    }
    int most = bid.job.spec().elasticity().max();
    if (before.replicas() > most) {
      return new Reason("Shrunk", "Its maximum of replicas is " + most + " now.", numbers);
    }
    if (bid.queuePrice > 0) {
      return new Reason("Shrunk", "Others of its queue gain more from its GPUs.", numbers);
    }
    if (dear(bid, bid.held)) {
      return new Reason("Shrunk", "Its GPUs cost more money than the time they save.", numbers);
    }
    return numbers.containsKey(ReasonNumber.NEXT_IN_LINE_PER_SLOT.key())
        ? new Reason("Shrunk", "Others gain more from its GPUs. " + rival, numbers)
        : new Reason("Shrunk", "It gained too little from the GPUs that it gave back.", numbers);
  }

  /** Whether it is its queue's quota that speaks against what it held. */
  private static boolean reclaimed(Bid bid) {
    return bid.room != null && bid.queuePrice > 0 && bid.room.fell();
  }

  /** Whether it is money alone that speaks against an offer: nobody else bids for the slots. */
  private boolean dear(Bid bid, int offer) {
    int pool = offer < 0 ? -1 : bid.offers.pool()[offer];
    return pool >= 0 && pools.money()[pool] > 0 && price[pool] == 0;
  }

  /** Who else wanted the GPUs, and what each would have been worth to that job. */
  private String rival(Bid bid, int pool, SequencedMap<String, Double> numbers) {
    Contenders.Contender next = pool < 0 ? null : contenders.besides(bid, pool);
    if (next == null) {
      return "Nobody else would gain from them.";
    }
    ReasonNumber.NEXT_IN_LINE_PER_SLOT.put(numbers, next.perSlot());
    return "Next in line for them: %s.".formatted(next.bid().job.id());
  }

  private String moved(Bid bid, int offer, Allocation before, int pool) {
    int held = pools.of(before);
    if (held >= 0 && pool >= 0 && pools.slowdown(held) > pools.slowdown(pool)) {
      return String.format(
          Locale.ROOT,
          "It leaves a node on which steps take %.1f times as long as on others.",
          pools.slowdown(held));
    }
    for (int i = 0; i < before.nodes(); i++) {
      Integer node = pools.indexByName().get(before.node(i));
      if (node == null) {
        return "A node that it ran on is gone.";
      }
      if (pools.poolOf()[node] != pool) {
        boolean slower = bid.held >= 0 && bid.offers.rate()[offer] <= bid.offers.rate()[bid.held];
        return slower
            ? "GPUs of another kind cost less, or are needed less by others."
            : "GPUs of another kind save more time.";
      }
    }
    Bid larger = movedFor.get(bid.index);
    return larger == null
        ? "Others got the GPUs that it had, and these were left."
        : "It makes room for %s, which needs its GPUs on fewer nodes.".formatted(larger.job.id());
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
    ReasonNumber.LEAST_SLOTS.put(numbers, slots);
    ReasonNumber.BID_PER_SLOT.put(numbers, bid.value[cheapest] / slots);
    putPrice(bid, bid.offers.pool()[cheapest], numbers);
    putMoney(numbers, bid.offers.pool()[cheapest], slots);
    ReasonNumber.REMAINING_SECONDS.put(numbers, bid.remaining);
    if (bid.room != null && slots > bid.room.account.room()) {
      return before.isEmpty()
          ? QuotaReasons.waits(bid.room.account, slots, numbers)
          : bid.room.fell()
              ? QuotaReasons.reclaimed(bid.room.account, numbers)
              : new Reason("Stopped", "Others of its queue gain more from its GPUs.", numbers);
    }
    String why =
        dear(bid, cheapest)
            ? "The GPUs that are free cost more money than the time they save."
            : "Other jobs gain more from the GPUs.";
    return new Reason(before.isEmpty() ? "Waiting" : "Stopped", why, numbers);
  }

  /** What a slot costs, its queue's quota included. */
  private void putPrice(Bid bid, int pool, SequencedMap<String, Double> numbers) {
    ReasonNumber.PRICE_PER_SLOT.put(numbers, price[pool] + bid.queuePrice);
    if (bid.queuePrice > 0) {
      ReasonNumber.QUOTA_PRICE_PER_SLOT.put(numbers, bid.queuePrice);
    }
  }

  /** What the next larger size would be worth to the job for each slot that it adds. */
  private static void putMore(
      Bid bid, int offer, int pool, int slots, SequencedMap<String, Double> numbers) {
    int next = -1;
    for (int o = 0; o < bid.value.length; o++) {
      boolean larger = bid.offers.pool()[o] == pool && bid.offers.slots()[o] > slots;
      if (larger && (next < 0 || bid.offers.slots()[o] < bid.offers.slots()[next])) {
        next = o;
      }
    }
    if (offer >= 0 && next >= 0) {
      int more = bid.offers.slots()[next] - slots;
      ReasonNumber.MORE_SLOTS.put(numbers, more);
      ReasonNumber.BID_PER_MORE_SLOT.put(numbers, (bid.value[next] - bid.value[offer]) / more);
    }
  }

  /** What slots cost, where their nodes tell a price. */
  private void putMoney(SequencedMap<String, Double> numbers, int pool, int slots) {
    double perHour = pools.kinds().get(pool).pricePerSlotHour() * slots;
    if (perHour > 0) {
      ReasonNumber.MONEY_PER_HOUR.put(numbers, perHour);
    }
    if (pools.money()[pool] > 0) {
      numbers.put("moneyPerSlot", pools.money()[pool]);
    }
  }

  private SequencedMap<String, Double> numbers(Bid bid, int offer, int pool, int slots) {
    SequencedMap<String, Double> numbers = new LinkedHashMap<>();
    if (offer >= 0) {
      numbers.put("goodput", bid.offers.rate()[offer]);
      ReasonNumber.REMAINING_SECONDS.put(numbers, bid.left(bid.offers.rate()[offer]));
      numbers.put("value", bid.value[offer]);
    }
    putMore(bid, offer, pool, slots, numbers);
    if (bid.held >= 0) {
      numbers.put("goodputBefore", bid.offers.rate()[bid.held]);
      boolean live = offer >= 0 && bid.value[offer] != bid.valueRestarted[offer];
      numbers.put("pauseSeconds", live ? bid.rescalePause() : bid.restartPause());
    }
    if (pool >= 0) {
      if (pools.slowdown(pool) > 1) {
        ReasonNumber.SLOWDOWN.put(numbers, pools.slowdown(pool));
      }
      putPrice(bid, pool, numbers);
      putMoney(numbers, pool, slots);
    }
    numbers.put("planBelowBound", given.bound() > 0 ? 1 - given.value() / given.bound() : 0);
    return numbers;
  }
}
