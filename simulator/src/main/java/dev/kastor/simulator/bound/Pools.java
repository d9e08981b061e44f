package dev.kastor.simulator.bound;

import dev.kastor.simulator.replay.ClusterShape;
import java.util.Arrays;
import java.util.List;

/**
 * Slots of a cluster by GPU type, and what some of them cost at given prices.
 *
 * @param gpuTypes of the pools, in order
 * @param capacity slots of each
 */
@SuppressWarnings("ArrayRecordComponent") // read in loops over millions of cells
record Pools(List<String> gpuTypes, double[] capacity) {
  static Pools of(ClusterShape cluster) {
    List<String> types =
        cluster.groups().stream().map(ClusterShape.Group::gpuType).distinct().toList();
    double[] capacity = new double[types.size()];
    cluster.groups().forEach(group -> capacity[types.indexOf(group.gpuType())] += group.gpus());
    return new Pools(types, capacity);
  }

  int count() {
    return capacity.length;
  }

  double all() {
    return Arrays.stream(capacity).sum();
  }

  /**
   * Least price of the slots of a way for a second.
   *
   * @param price of a slot second, by pool and time slot
   */
  double cost(Way way, double[][] price, int t) {
    if (way.pool() != Way.ANY_POOL) {
      return price[way.pool()][t] * way.slots();
    }
    double cost = 0;
    double left = way.slots();
    for (int pool : cheapestFirst(price, t)) {
      double taken = Math.min(left, capacity[pool]);
      cost += taken * price[pool][t];
      left -= taken;
    }
    return cost;
  }

  /** Adds the slots of {@link #cost} to what is used. */
  void take(Way way, double share, double[][] price, int t, double[][] use) {
    if (way.pool() != Way.ANY_POOL) {
      use[way.pool()][t] += share * way.slots();
      return;
    }
    double left = way.slots();
    for (int pool : cheapestFirst(price, t)) {
      double taken = Math.min(left, capacity[pool]);
      use[pool][t] += share * taken;
      left -= taken;
    }
  }

  /** Indices of the pools; by insertion, as there are few and this is asked for in each slot. */
  int[] cheapestFirst(double[][] price, int t) {
    int[] order = new int[count()];
    for (int pool = 0; pool < order.length; pool++) {
      int at = pool;
      while (at > 0 && price[order[at - 1]][t] > price[pool][t]) {
        order[at] = order[at - 1];
        at--;
      }
      order[at] = pool;
    }
    return order;
  }
}
