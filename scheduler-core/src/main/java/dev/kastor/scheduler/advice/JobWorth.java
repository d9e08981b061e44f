package dev.kastor.scheduler.advice;

import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What slots are worth to one job: its goodput, counted in what the same goodput costs where it is
 * cheapest for this job, on single GPUs. With one GPU type and no prices that is Pollux' speedup
 * (OSDI 2021, section 4.2: goodput over the goodput of a single GPU).
 *
 * <p>A job without a model is taken to use its fewest replicas perfectly, and no more.
 */
final class JobWorth {
  private static final double STEP = Math.sqrt(2);

  private final JobState job;
  private final Market market;
  private final Optional<GoodputModel> model;
  private final double bestRate;
  private final Optional<NodeType> best;

  JobWorth(JobState job, Market market) {
    this.job = job;
    this.market = market;
    model = job.model();
    double rate = 0;
    NodeType found = null;
    for (NodeType type : market.types()) {
      if (job.spec().runsOn(type.gpuType()) && perNode(type) > 0) {
        double here = model.map(known -> single(known, type)).orElse(0.0) / market.slotCost(type);
        if (found == null || here > rate) {
          rate = here;
          found = type;
        }
      }
    }
    bestRate = rate;
    best = Optional.ofNullable(found);
  }

  /** Where its goodput is cheapest; empty if it runs on none of the types. */
  Optional<NodeType> best() {
    return best;
  }

  /** Nodes that it needs at the least. */
  int leastNodes(NodeType type) {
    return Math.ceilDiv(job.spec().elasticity().min(), Math.max(1, perNode(type)));
  }

  /** Replicas that a node of a type can hold. */
  private int perNode(NodeType type) {
    return type.slots() / job.spec().slotsPerReplica(type.gpuType());
  }

  /** What it has is worth, per hour. */
  double of(Allocation allocation, NodeType type) {
    return known(type)
        ? goodput(type, allocation.nodes(), allocation.replicas()) / bestRate
        : allocation.slots() * market.slotCost(type);
  }

  /** Gains of more and more slots of a type, the best first: the concave hull of its worth. */
  List<Gain> gains(NodeType type) {
    List<double[]> hull = new ArrayList<>();
    hull.add(new double[] {0, 0});
    for (int replicas : sizes()) {
      int slots = replicas * job.spec().slotsPerReplica(type.gpuType());
      double worth =
          known(type)
              ? goodput(type, Math.ceilDiv(replicas, perNode(type)), replicas) / bestRate
              : slots * market.slotCost(type);
      add(hull, slots, worth);
    }
    List<Gain> gains = new ArrayList<>();
    for (int i = 1; i < hull.size(); i++) {
      double slots = hull.get(i)[0] - hull.get(i - 1)[0];
      gains.add(new Gain(slots, (hull.get(i)[1] - hull.get(i - 1)[1]) / slots));
    }
    return gains;
  }

  /**
   * So many slots more, each worth this much an hour.
   *
   * @param slots how many
   * @param worth of each
   */
  record Gain(double slots, double worth) {}

  private static void add(List<double[]> hull, double slots, double worth) {
    if (worth <= hull.getLast()[1]) {
      return;
    }
    double[] point = {slots, worth};
    while (hull.size() > 1
        && slope(hull.get(hull.size() - 2), hull.getLast()) <= slope(hull.getLast(), point)) {
      hull.removeLast();
    }
    hull.add(point);
  }

  private static double slope(double[] from, double[] to) {
    return (to[1] - from[1]) / (to[0] - from[0]);
  }

  /** Replica counts that it may have, a few for each doubling; beyond what is known no prophecy. */
  private List<Integer> sizes() {
    Elasticity elasticity = job.spec().elasticity();
    int most =
        model.isEmpty()
            ? elasticity.min()
            : Math.min(elasticity.max(), Math.max(elasticity.min(), 2 * job.maxProfiledReplicas()));
    List<Integer> sizes = new ArrayList<>();
    int last = 0;
    for (double at = elasticity.min(); last < most; at *= STEP) {
      int size = Math.min(most, Math.max(last + 1, (int) at));
      if (elasticity.allows(size)) {
        sizes.add(size);
      }
      last = size;
    }
    return sizes;
  }

  private boolean known(NodeType type) {
    return bestRate > 0 && model.isPresent() && model.get().knows(type.gpuType());
  }

  /** Goodput of one slot. */
  private double single(GoodputModel known, NodeType type) {
    if (!known.knows(type.gpuType())) {
      return 0;
    }
    JobSpec spec = job.spec();
    int perReplica = spec.slotsPerReplica(type.gpuType());
    double one = BatchChoice.goodput(spec, known, new PlacementShape(1, 1, type.gpuType()));
    if (one > 0) {
      return one / perReplica;
    }
    // Its batch does not fit a single replica: then its fewest must do.
    int least = spec.elasticity().min();
    int slots = least * perReplica;
    return BatchChoice.goodput(
            spec,
            known,
            new PlacementShape(Math.ceilDiv(least, perNode(type)), least, type.gpuType()))
        / slots;
  }

  private double goodput(NodeType type, int nodes, int replicas) {
    return model
        .map(known ->
            BatchChoice.goodput(
                job.spec(), known, new PlacementShape(nodes, replicas, type.gpuType())))
        .orElse(0.0);
  }
}
