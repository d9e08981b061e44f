package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.Allocation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * A plan with nodes, and what it is worth as placed.
 *
 * @param allocations by index of the bid
 * @param value seconds saved in a second, pauses taken off
 * @param movedFor for whom each job that keeps its size had to leave its nodes, by index
 */
record Draft(
    Map<Integer, Allocation> allocations, double value, SequencedMap<Integer, Bid> movedFor) {
  /** Places shares: what is held stays where it is, if it can. */
  static Draft of(List<Bid> bids, int[] offers, Packing packing, Pools pools, Rooms rooms) {
    for (int b = 0; b < offers.length; b++) {
      Bid bid = bids.get(b);
      if (offers[b] >= 0) {
        int pool = bid.offers.pool()[offers[b]];
        if (offers[b] != bid.held || !packing.keep(bid, bid.index, pool)) {
          packing.want(bid, bid.index, pool, bid.offers.slots()[offers[b]]);
        }
      }
    }
    packing.place();
    fill(List.of(bids), bids, packing, pools, rooms);
    return measured(List.of(bids), packing, pools);
  }

  private record Wanted(Bid bid, int offer, double perSlot) {}

  /** What no node had room for as the market gave it goes to those who can use it as it lies. */
  private static void fill(
      List<List<Bid>> all, List<Bid> bids, Packing packing, Pools pools, Rooms rooms) {
    int[] mark = rooms.mark();
    int[] claims = rooms.claims();
    rooms.unclaimed();
    for (List<Bid> group : rooms.none() ? List.<List<Bid>>of() : all) {
      group.forEach(bid -> Rooms.take(bid, packing.allocation(bid.index).slots()));
    }
    List<Bid> without = bids.stream().filter(bid -> !packing.placed(bid.index)).toList();
    int[] left = Sharing.capacity(packing.left(1), without, pools);
    List<Wanted> wanted = new ArrayList<>();
    for (Bid bid : without) {
      for (int o = 0; o < bid.value.length; o++) {
        int slots = bid.offers.slots()[o];
        if (bid.value[o] > 0 && slots <= left[bid.offers.pool()[o]]) {
          wanted.add(new Wanted(bid, o, bid.value[o] / slots));
        }
      }
    }
    wanted.sort(
        Comparator.comparingDouble((Wanted next) -> -next.perSlot())
            .thenComparingInt(next -> next.bid().index));
    for (Wanted next : wanted) {
      Bid bid = next.bid();
      int pool = bid.offers.pool()[next.offer()];
      int slots = bid.offers.slots()[next.offer()];
      if (slots <= left[pool]
          && !packing.placed(bid.index)
          && Rooms.fits(bid, slots)
          && packing.add(bid, bid.index, pool, slots)) {
        left[pool] -= slots;
        Rooms.take(bid, slots);
      }
    }
    rooms.reset(mark);
    rooms.claimAgain(claims);
  }

  /** The same where some already are in their places and stay there. */
  static Draft with(
      List<Bid> placed,
      List<Bid> waiting,
      int[] offers,
      Packing packing,
      Pools pools,
      Rooms rooms) {
    for (int b = 0; b < offers.length; b++) {
      Bid bid = waiting.get(b);
      if (offers[b] >= 0) {
        packing.add(bid, bid.index, bid.offers.pool()[offers[b]], bid.offers.slots()[offers[b]]);
      }
    }
    fill(List.of(placed, waiting), waiting, packing, pools, rooms);
    return measured(List.of(placed, waiting), packing, pools);
  }

  /** What it is worth to change nothing. */
  static double ofHeld(List<Bid> bids) {
    double sum = 0;
    for (Bid bid : bids) {
      sum += bid.held < 0 ? 0 : bid.value[bid.held];
    }
    return sum;
  }

  private static Draft measured(List<List<Bid>> groups, Packing packing, Pools pools) {
    Map<Integer, Allocation> allocations = new HashMap<>();
    SequencedMap<Integer, Bid> movedFor = new TreeMap<>(packing.movedFor());
    double value = 0;
    for (List<Bid> bids : groups) {
      for (Bid bid : bids) {
        Allocation allocation = packing.allocation(bid.index);
        if (allocation.equals(bid.job.allocation())) {
          // Nodes keep the order in which the job has them.
          allocation = bid.job.allocation();
        }
        if (allocation.equals(bid.job.allocation())
            || allocation.slots() != bid.job.allocation().slots()) {
          movedFor.remove(bid.index);
        }
        allocations.put(bid.index, allocation);
        value += value(bid, allocation, pools);
      }
    }
    return new Draft(allocations, value, movedFor);
  }

  private static boolean overlap(Allocation one, Allocation other) {
    for (int i = 0; i < one.nodes(); i++) {
      for (int k = 0; k < other.nodes(); k++) {
        if (one.node(i).equals(other.node(k))) {
          return true;
        }
      }
    }
    return false;
  }

  private static double value(Bid bid, Allocation allocation, Pools pools) {
    if (allocation.isEmpty()) {
      return 0;
    }
    int pool = pools.of(allocation);
    int offer = bid.offers.find(pool, allocation.slots());
    if (offer < 0) {
      return 0;
    }
    boolean stays = allocation.equals(bid.job.allocation());
    boolean restarts = !stays && (offer == bid.held || !overlap(allocation, bid.job.allocation()));
    double value = restarts ? bid.valueRestarted[offer] : bid.value[offer];
    if (!stays && pools.scattered(allocation, pool)) {
      double rate = Rates.rate(bid.job, pools, pool, allocation.slots(), allocation.nodes());
      double money = pools.money()[pool] * allocation.slots();
      value = (value + money) * (rate / bid.offers.rate()[offer]) - money;
    }
    return value;
  }
}
