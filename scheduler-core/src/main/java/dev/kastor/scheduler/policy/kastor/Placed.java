package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;

/**
 * Who is where so far, and what it costs to make them leave. A running job leaves its nodes for a
 * larger one only if it is not rigid, and no more of them do than may move. Owned by one planning
 * call.
 */
final class Placed {
  /**
   * Order in which wishes find nodes: who comes later leaves nodes to who comes earlier, never the
   * other way round. Large replicas come first, as fewest nodes can hold them.
   */
  static final Comparator<Wish> LARGEST_FIRST =
      Comparator.comparingInt(Wish::each).thenComparingInt(Wish::slots).reversed();

  /**
   * What a job is to get, not yet where.
   *
   * @param each slots of each of its replicas
   */
  record Wish(Bid bid, int order, int pool, int slots, int each) {
    /** What it is worth more than the best that is smaller. */
    double gain() {
      Offers offers = bid.offers;
      double smaller = 0;
      double own = 0;
      for (int o = 0; o < offers.count(); o++) {
        if (offers.slots()[o] < slots) {
          smaller = Math.max(smaller, bid.value[o]);
        } else if (offers.slots()[o] == slots && offers.pool()[o] == pool) {
          own = bid.value[o];
        }
      }
      return own - smaller;
    }
  }

  /** Slots by node. */
  @SuppressWarnings("ArrayRecordComponent") // thousands in a round, never compared
  record Spot(int[] nodes, int[] counts) {}

  private record Place(Wish wish, Spot spot) {}

  private final Pools pools;
  private final FreeSlots free;
  private final Map<Integer, Place> places = new HashMap<>();
  private final Map<Integer, List<Integer>> singlesOn = new HashMap<>();
  private final Map<Integer, Bid> movedFor = new HashMap<>();
  private int movesLeft;

  /**
   * Nobody is anywhere yet.
   *
   * @param mostMoves running jobs that may have to leave their nodes
   */
  Placed(Pools pools, FreeSlots free, int mostMoves) {
    this.pools = pools;
    this.free = free;
    movesLeft = mostMoves;
  }

  void take(Wish wish, Spot spot) {
    places.put(wish.order(), new Place(wish, spot));
    for (int i = 0; i < spot.nodes().length; i++) {
      free.take(spot.nodes()[i], spot.counts()[i]);
    }
    if (spot.nodes().length == 1) {
      singlesOn.computeIfAbsent(spot.nodes()[0], node -> new ArrayList<>()).add(wish.order());
    }
  }

  /** Makes one leave its nodes to a wish; the answer is what it now wishes for. */
  Wish evict(int order, Wish wish) {
    if (runs(order)) {
      movesLeft--;
      movedFor.putIfAbsent(order, wish.bid());
    }
    Place place = place(order);
    places.remove(order);
    for (int i = 0; i < place.spot().nodes().length; i++) {
      int node = place.spot().nodes()[i];
      singlesOn.getOrDefault(node, new ArrayList<>()).remove(Integer.valueOf(order));
      free.take(node, -place.spot().counts()[i]);
    }
    return place.wish();
  }

  /** For whom each running job had to leave its nodes. */
  Map<Integer, Bid> movedFor() {
    return Map.copyOf(movedFor);
  }

  boolean contains(int order) {
    return places.containsKey(order);
  }

  /** What a bid got. */
  Allocation allocation(int order) {
    Place place = places.get(order);
    if (place == null) {
      return Allocation.NONE;
    }
    Spot spot = place.spot();
    SequencedMap<String, Integer> byNode = new LinkedHashMap<>();
    for (int i = 0; i < spot.nodes().length; i++) {
      byNode.put(pools.nodes().get(spot.nodes()[i]).name(), spot.counts()[i]);
    }
    return Allocation.ofSlots(byNode, place.wish().each());
  }

  /** Whether a bid leaves its nodes to a wish if it loses less by that than the wish gains. */
  boolean smaller(int order, Wish wish) {
    Wish own = place(order).wish();
    boolean rigid = own.bid().job.spec().elasticity() instanceof Elasticity.Rigid;
    return LARGEST_FIRST.compare(own, wish) > 0 && !(rigid && runs(order));
  }

  /** Whether these may leave their nodes: no more running jobs do than may move. */
  boolean mayLeave(List<Integer> orders) {
    int running = 0;
    for (int order : orders) {
      running += runs(order) ? 1 : 0;
    }
    return running <= movesLeft;
  }

  /** The bids that have slots on this node only. */
  List<Integer> singlesOn(int node) {
    return List.copyOf(singlesOn.getOrDefault(node, List.of()));
  }

  /** Slots that a bid got. */
  int slots(int order) {
    return place(order).wish().slots();
  }

  /**
   * The jobs smaller than a wish that lose least by leaving a node to it; none if all of them are
   * not enough.
   */
  List<Integer> leaving(int node, Wish wish) {
    List<Integer> smaller = new ArrayList<>(singlesOn(node));
    smaller.removeIf(order -> !smaller(order, wish));
    smaller.sort(Comparator.comparingDouble(order -> loss(order) / slots(order)));
    int freed = free.on(node);
    int count = 0;
    while (freed < wish.slots() && count < smaller.size()) {
      freed += slots(smaller.get(count++));
    }
    if (freed < wish.slots()) {
      return List.of();
    }
    List<Integer> leaving = new ArrayList<>();
    for (int i = count - 1; i >= 0; i--) {
      int order = smaller.get(i);
      if (freed - slots(order) >= wish.slots()) {
        freed -= slots(order);
      } else {
        leaving.add(order);
      }
    }
    return leaving;
  }

  /**
   * The smaller jobs, on whatever nodes, that lose least by leaving them to the replicas of a wish;
   * none if all of them are not enough, or lose more than the wish gains.
   */
  List<Integer> leavingReplicas(Wish wish) {
    Map<Integer, Integer> left = new HashMap<>();
    int missing = wish.slots() / wish.each();
    for (int n = 0; n < pools.poolOf().length; n++) {
      if (pools.poolOf()[n] == wish.pool()) {
        missing -= free.on(n) / wish.each();
        left.put(n, free.on(n));
      }
    }
    List<Integer> smaller = new ArrayList<>(places.keySet());
    smaller.removeIf(order -> place(order).wish().pool() != wish.pool() || !smaller(order, wish));
    smaller.sort(
        Comparator.comparingDouble((Integer order) -> loss(order) / slots(order))
            .thenComparingInt(order -> order));
    int count = 0;
    while (missing > 0 && count < smaller.size()) {
      missing -= replicas(smaller.get(count++), 1, wish.each(), left);
    }
    List<Integer> leaving = new ArrayList<>();
    for (int i = count - 1; i >= 0 && missing <= 0; i--) {
      int order = smaller.get(i);
      missing -= replicas(order, -1, wish.each(), left);
      if (missing > 0) {
        missing -= replicas(order, 1, wish.each(), left);
        leaving.add(order);
      }
    }
    return loss(leaving) > wish.gain() || !mayLeave(leaving) ? List.of() : leaving;
  }

  /**
   * Replicas of so many slots that there is room for when a bid leaves its nodes, or that there is
   * no more room for when it comes back.
   */
  private int replicas(int order, int sign, int each, Map<Integer, Integer> left) {
    Spot spot = place(order).spot();
    int replicas = 0;
    for (int i = 0; i < spot.nodes().length; i++) {
      int before = left.getOrDefault(spot.nodes()[i], 0);
      int after = before + sign * spot.counts()[i];
      left.put(spot.nodes()[i], after);
      replicas += after / each - before / each;
    }
    return replicas;
  }

  /** What these lose if they have to leave, in seconds saved in a second. */
  double loss(List<Integer> orders) {
    double sum = 0;
    for (int order : orders) {
      sum += loss(order);
    }
    return sum;
  }

  /** The pause, if it is where it was. */
  private double loss(int order) {
    Bid bid = place(order).wish().bid();
    return bid.held >= 0 && runs(order) ? bid.value[bid.held] - bid.valueRestarted[bid.held] : 0;
  }

  /** Whether a bid is placed where its job runs. */
  private boolean runs(int order) {
    return allocation(order).equals(place(order).wish().bid().job.allocation());
  }

  private Place place(int order) {
    return Objects.requireNonNull(places.get(order));
  }
}
