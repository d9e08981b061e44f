package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.policy.kastor.Placed.Spot;
import dev.kastor.scheduler.policy.kastor.Placed.Wish;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds nodes for slots. What a job keeps stays where it is; the others are placed, those of the
 * largest replicas and of these the largest first, on their own nodes where they fit, else as
 * tightly as possible and within a rack. Smaller jobs move away where a larger one needs a whole
 * node, or nodes for its replicas. Owned by one planning call.
 */
final class Packing {
  private static final int MOST_LOOKED_AT = 256;

  private final Pools pools;
  private final FreeSlots free;
  private final Placed placed;
  private final PriorityQueue<Wish> queue =
      new PriorityQueue<>(Placed.LARGEST_FIRST.thenComparingInt(Wish::order));

  /**
   * Nodes on which nothing runs.
   *
   * @param mostMoves running jobs that may have to leave their nodes to larger ones
   */
  Packing(Pools pools, int mostMoves) {
    this.pools = pools;
    free = new FreeSlots(pools);
    placed = new Placed(pools, free, mostMoves);
  }

  /** Whether all of an allocation is there and free. */
  boolean holds(Allocation allocation) {
    return free.holds(allocation);
  }

  /** Takes what cannot move; slots that a node no longer has do not count. */
  void fix(Allocation allocation) {
    for (int i = 0; i < allocation.nodes(); i++) {
      Integer node = pools.indexByName().get(allocation.node(i));
      if (node != null) {
        free.take(node, Math.min(free.on(node), allocation.slots(i)));
      }
    }
  }

  /** Whether all that a job holds is there and free; if so it is taken. */
  boolean keep(Bid bid, int order, int pool) {
    Allocation held = bid.job.allocation();
    if (!free.holds(held)) {
      return false;
    }
    int[] nodes = new int[held.nodes()];
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] = Objects.requireNonNull(pools.indexByName().get(held.node(i)));
    }
    int[] counts = new int[held.nodes()];
    Arrays.setAll(counts, i -> held.slots(i));
    placed.take(wish(bid, order, pool, held.slots()), new Spot(nodes, counts));
    return true;
  }

  /** Asks for slots of a pool. */
  void want(Bid bid, int order, int pool, int slots) {
    queue.add(wish(bid, order, pool, slots));
  }

  private Wish wish(Bid bid, int order, int pool, int slots) {
    return new Wish(bid, order, pool, slots, bid.job.spec().slotsPerReplica(pools.gpuType(pool)));
  }

  /** Places all that was asked for. */
  void place() {
    while (!queue.isEmpty()) {
      Wish wish = queue.poll();
      Spot spot = find(wish);
      if (spot != null) {
        placed.take(wish, spot);
      }
    }
  }

  /** Gives slots where they are free and nobody has to move; false where they are not. */
  boolean add(Bid bid, int order, int pool, int slots) {
    Wish wish = wish(bid, order, pool, slots);
    Spot spot = slots <= pools.nodeSlots()[pool] ? onOne(wish, tightest(wish)) : null;
    spot = spot == null ? scattered(wish) : spot;
    if (spot == null) {
      return false;
    }
    placed.take(wish, spot);
    return true;
  }

  /** Whether a bid got anything. */
  boolean placed(int order) {
    return placed.contains(order);
  }

  /** What a bid got. */
  Allocation allocation(int order) {
    return placed.allocation(order);
  }

  /** For whom each running job had to leave its nodes. */
  Map<Integer, Bid> movedFor() {
    return placed.movedFor();
  }

  private @Nullable Spot find(Wish wish) {
    int node = pools.nodeSlots()[wish.pool()];
    Spot spot = null;
    if (wish.slots() <= node) {
      spot = single(wish);
    } else if (node % wish.each() == 0) {
      spot = whole(wish, node);
    }
    spot = spot == null ? scattered(wish) : spot;
    if (spot == null && wish.each() > 1) {
      placed.leavingReplicas(wish).forEach(order -> queue.add(placed.evict(order, wish)));
      spot = scattered(wish);
    }
    return spot;
  }

  private @Nullable Spot single(Wish wish) {
    int node = tightest(wish);
    return onOne(wish, node < 0 ? roomMadeFor(wish) : node);
  }

  private static @Nullable Spot onOne(Wish wish, int node) {
    return node < 0 ? null : new Spot(new int[] {node}, new int[] {wish.slots()});
  }

  /** Its own node, or else the one that it fills most; -1 where it fits on none. */
  private int tightest(Wish wish) {
    int node = own(wish);
    for (int f = wish.slots(); node < 0 && f <= pools.nodeSlots()[wish.pool()]; f++) {
      node = free.with(wish.pool(), f).nextSetBit(0);
    }
    return node;
  }

  /** The node of its own that it would fill most. */
  private int own(Wish wish) {
    int best = -1;
    Allocation held = wish.bid().job.allocation();
    for (int i = 0; i < held.nodes(); i++) {
      Integer node = pools.indexByName().get(held.node(i));
      if (node != null
          && pools.poolOf()[node] == wish.pool()
          && free.on(node) >= wish.slots()
          && (best < 0 || free.on(node) < free.on(best))) {
        best = node;
      }
    }
    return best;
  }

  /** The node that smaller jobs can leave for it at the least loss; -1 if none is worth it. */
  private int roomMadeFor(Wish wish) {
    double least = Double.POSITIVE_INFINITY;
    int best = -1;
    List<Integer> leaving = List.of();
    int looked = 0;
    for (int f = wish.slots() - 1; f >= 0 && least > 0; f--) {
      BitSet nodes = free.with(wish.pool(), f);
      for (int n = nodes.nextSetBit(0);
          n >= 0 && looked < MOST_LOOKED_AT && least > 0;
          n = nodes.nextSetBit(n + 1), looked++) {
        List<Integer> smaller = placed.leaving(n, wish);
        double loss = placed.loss(smaller);
        if (!smaller.isEmpty() && loss < least && placed.mayLeave(smaller)) {
          least = loss;
          best = n;
          leaving = smaller;
        }
      }
    }
    if (best < 0 || least > wish.gain()) {
      return -1;
    }
    leaving.forEach(order -> queue.add(placed.evict(order, wish)));
    return best;
  }

  private @Nullable Spot whole(Wish wish, int node) {
    int full = wish.slots() / node;
    int rest = wish.slots() % node;
    List<Integer> chosen = wholeNodes(wish, node, full);
    if (chosen.size() < full) {
      for (int emptied : emptied(wish, node, full - chosen.size(), chosen)) {
        chosen.add(emptied);
      }
    }
    if (chosen.size() < full) {
      return null;
    }
    int last = -1;
    for (int f = rest; rest > 0 && last < 0 && f <= node; f++) {
      BitSet nodes = free.with(wish.pool(), f);
      for (int n = nodes.nextSetBit(0); n >= 0 && last < 0; n = nodes.nextSetBit(n + 1)) {
        last = chosen.contains(n) ? -1 : n;
      }
    }
    if (rest > 0 && last < 0) {
      return null;
    }
    chosen.sort(null);
    int[] nodes =
        Arrays.copyOf(chosen.stream().mapToInt(n -> n).toArray(), full + (rest > 0 ? 1 : 0));
    int[] counts = new int[nodes.length];
    Arrays.fill(counts, node);
    if (rest > 0) {
      nodes[full] = last;
      counts[full] = rest;
    }
    return new Spot(nodes, counts);
  }

  /** Free nodes: its own first, then those of the rack that they fill most. */
  private List<Integer> wholeNodes(Wish wish, int node, int wanted) {
    List<Integer> chosen = new ArrayList<>();
    BitSet open = free.with(wish.pool(), node);
    Allocation held = wish.bid().job.allocation();
    for (int i = 0; i < held.nodes() && chosen.size() < wanted; i++) {
      Integer own = pools.indexByName().get(held.node(i));
      if (own != null && pools.poolOf()[own] == wish.pool() && open.get(own)) {
        chosen.add(own);
      }
    }
    Map<String, List<Integer>> racks = new TreeMap<>();
    for (int n = open.nextSetBit(0); n >= 0; n = open.nextSetBit(n + 1)) {
      if (!chosen.contains(n)) {
        racks.computeIfAbsent(pools.nodes().get(n).rack(), rack -> new ArrayList<>()).add(n);
      }
    }
    // What joins nodes that it keeps joins them in their rack, if that has enough.
    String home = chosen.isEmpty() ? "" : pools.nodes().get(chosen.getFirst()).rack();
    while (chosen.size() < wanted && !racks.isEmpty()) {
      int missing = wanted - chosen.size();
      boolean near = racks.getOrDefault(home, List.of()).size() >= missing && !home.isEmpty();
      String rack = near ? home : tightest(racks, missing);
      for (int n : racks.getOrDefault(rack, List.of())) {
        if (chosen.size() < wanted) {
          chosen.add(n);
        }
      }
      racks.remove(rack);
    }
    return chosen;
  }

  /** The smallest rack that is enough, else the largest. */
  private static String tightest(Map<String, List<Integer>> racks, int wanted) {
    String best = "";
    int most = -1;
    for (var rack : racks.entrySet()) {
      int size = rack.getValue().size();
      boolean better = most < 0 || (most >= wanted ? size >= wanted && size < most : size > most);
      if (better) {
        best = rack.getKey();
        most = size;
      }
    }
    return best;
  }

  /** Nodes that smaller jobs on single nodes can leave at the least loss; none if not worth it. */
  private List<Integer> emptied(Wish wish, int node, int wanted, List<Integer> besides) {
    List<Integer> found = new ArrayList<>();
    for (int f = node - 1; f >= 0; f--) {
      BitSet nodes = free.with(wish.pool(), f);
      for (int n = nodes.nextSetBit(0); n >= 0; n = nodes.nextSetBit(n + 1)) {
        int movable = 0;
        for (int order : placed.singlesOn(n)) {
          movable += placed.smaller(order, wish) ? placed.slots(order) : 0;
        }
        if (f + movable == node && pools.nodes().get(n).slots() == node && !besides.contains(n)) {
          found.add(n);
        }
      }
    }
    if (found.size() < wanted) {
      return List.of();
    }
    found.sort(Comparator.comparingDouble(n -> placed.loss(placed.singlesOn(n))));
    found.subList(wanted, found.size()).clear();
    List<Integer> leaving = new ArrayList<>();
    found.forEach(n -> leaving.addAll(placed.singlesOn(n)));
    if (placed.loss(leaving) > wish.gain() || !placed.mayLeave(leaving)) {
      return List.of();
    }
    leaving.forEach(order -> queue.add(placed.evict(order, wish)));
    return found;
  }

  /**
   * Wherever slots are free for whole replicas, on as few nodes as possible; null where there are
   * not enough.
   */
  private @Nullable Spot scattered(Wish wish) {
    int unit = wish.each();
    TreeMap<Integer, Integer> taken = new TreeMap<>();
    int left = wish.slots();
    for (int f = pools.nodeSlots()[wish.pool()]; f > 0 && left > 0; f--) {
      BitSet nodes = free.with(wish.pool(), f);
      for (int n = nodes.nextSetBit(0); n >= 0 && left > 0; n = nodes.nextSetBit(n + 1)) {
        int here = Math.min(f / unit * unit, left);
        if (here > 0) {
          taken.put(n, here);
          left -= here;
        }
      }
    }
    if (left > 0) {
      return null;
    }
    return new Spot(
        taken.keySet().stream().mapToInt(n -> n).toArray(),
        taken.values().stream().mapToInt(n -> n).toArray());
  }

  /** Free slots of each pool, as far as replicas of so many slots can take them. */
  int[] left(int slotsPerReplica) {
    return free.left(slotsPerReplica);
  }
}
