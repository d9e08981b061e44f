package dev.kastor.scheduler.advice;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The most that any number of nodes of one type can be worth to the jobs that belong there.
 *
 * <p>Slots go where they gain most. Gains of a job fall with its slots, so the worth is concave in
 * the slots, the utility (worth over cost) never rises with the nodes, and a further job never
 * lowers either. Jobs that come in steps count as if they could take part of a step: at most one
 * job's share too much.
 */
final class Demand {
  private final NodeType type;
  private final double nodeCost;
  private final double[] slots;
  private final double[] worth;
  private final int leastNodes;

  private Demand(NodeType type, double nodeCost, List<JobWorth.Gain> gains, int leastNodes) {
    this.type = type;
    this.nodeCost = nodeCost;
    this.leastNodes = leastNodes;
    List<JobWorth.Gain> sorted = new ArrayList<>(gains);
    sorted.sort(Comparator.comparingDouble(JobWorth.Gain::worth).reversed());
    slots = new double[sorted.size() + 1];
    worth = new double[sorted.size() + 1];
    for (int i = 0; i < sorted.size(); i++) {
      slots[i + 1] = slots[i] + sorted.get(i).slots();
      worth[i + 1] = worth[i] + sorted.get(i).slots() * sorted.get(i).worth();
    }
  }

  static Demand of(List<JobWorth> jobs, NodeType type, Market market) {
    List<JobWorth.Gain> gains = new ArrayList<>();
    int least = 0;
    for (JobWorth job : jobs) {
      gains.addAll(job.gains(type));
      least = Math.max(least, job.leastNodes(type));
    }
    return new Demand(type, market.nodeCost(type), gains, least);
  }

  /** Nodes without which one of the jobs could never run. */
  int leastNodes() {
    return leastNodes;
  }

  /** Worth over cost, in about [0, 1]; 0 without nodes. */
  double utility(int nodes) {
    return nodes == 0 ? 0 : worth((double) nodes * type.slots()) / (nodes * nodeCost);
  }

  private double worth(double some) {
    int last = slots.length - 1;
    if (some >= slots[last]) {
      return worth[last];
    }
    int low = 0;
    int high = last;
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (slots[middle] <= some) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return worth[low]
        + (some - slots[low]) / (slots[high] - slots[low]) * (worth[high] - worth[low]);
  }

  /**
   * Nodes whose utility comes nearest to the middle of the band from above, one more where only
   * that lies within the band; always enough for every job to run, and within the range.
   */
  int nodes(NodeRules rules, NodeRules.Range range) {
    int few = Math.clamp(leastNodes, range.min(), range.max());
    int low = few;
    int high = range.max() + 1;
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (utility(middle) >= rules.target()) {
        low = middle;
      } else {
        high = middle;
      }
    }
    boolean oneMore =
        low > 0
            && low < range.max()
            && utility(low) > rules.high()
            && utility(low + 1) >= rules.low();
    return oneMore ? low + 1 : low;
  }
}
