package dev.kastor.simulator.bound;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * True paces of a job: how fast it gets on with each number of slots of each pool, at the best
 * batch and on the best nodes that it could have there.
 */
final class TruePaces {
  private static final int BATCHES = 50;
  private static final int MOST_LAYOUTS = 256;
  private static final double WORTH_A_SIZE = 1.0001;

  private final JobSpec spec;
  private final Application application;
  private final ClusterShape cluster;

  TruePaces(JobSpec spec, Application application, ClusterShape cluster) {
    this.spec = spec;
    this.application = application;
    this.cluster = cluster;
  }

  /**
   * Every way that is not slower in all epochs than one with fewer slots of its pool. A job that
   * does not tell GPU types apart may hold several at once.
   */
  List<Way> ways(Pools pools) {
    List<String> usable = pools.gpuTypes().stream().filter(spec::runsOn).toList();
    List<Way> ways = new ArrayList<>();
    if (spec.byGpuType().isEmpty() && usable.size() > 1) {
      add(Way.ANY_POOL, usable, ways);
    } else {
      usable.forEach(type -> add(pools.gpuTypes().indexOf(type), List.of(type), ways));
    }
    return ways;
  }

  private void add(int pool, List<String> types, List<Way> ways) {
    int each = spec.slotsPerReplica(types.getFirst());
    List<ClusterShape.Group> groups =
        cluster.groups().stream().filter(group -> types.contains(group.gpuType())).toList();
    int perNode = groups.stream().mapToInt(group -> group.gpusPerNode() / each).max().orElse(0);
    int room = groups.stream().mapToInt(group -> group.replicas(each)).sum();
    double[] best = new double[application.epochs()];
    for (int replicas = 1; replicas <= room; replicas++) {
      if (spec.elasticity().allows(replicas)) {
        double[] pace = pace(types, replicas, perNode, groups);
        boolean faster = false;
        boolean ends = true;
        for (int e = 0; e < best.length; e++) {
          faster |= pace[e] > WORTH_A_SIZE * best[e];
          ends &= pace[e] > 0;
          best[e] = Math.max(best[e], pace[e]);
        }
        if (faster && ends) {
          ways.add(new Way(pool, replicas * each, pace));
        }
      }
    }
  }

  private double[] pace(
      List<String> types, int replicas, int perNode, List<ClusterShape.Group> groups) {
    List<String> keys =
        types.stream()
            .map(type -> application.gpuTypes().contains(type) ? type : "")
            .distinct()
            .toList();
    int nodes = groups.stream().mapToInt(ClusterShape.Group::nodes).sum();
    double[] pace = new double[application.epochs()];
    for (int[] layout : layouts(replicas, perNode, nodes)) {
      keys.forEach(key -> raise(pace, key, layout, replicas));
    }
    return pace;
  }

  /** Raises each epoch's pace to the best that a layout allows. */
  private void raise(double[] pace, String key, int[] layout, int replicas) {
    BatchLimits own = spec.batchLimits(key);
    int measured =
        Math.min(
            application.maxAtomicBatch(key, layout), application.maxAtomicBatch(key, replicas));
    BatchLimits limits =
        own.withMaxAtomicBatch(
            Math.max(own.minAtomicBatch(), Math.min(own.maxAtomicBatch(), measured)));
    double low = Math.max(limits.targetGlobalBatch(), (double) limits.minAtomicBatch() * replicas);
    double high =
        spec.elasticity() instanceof Elasticity.Adaptive
            ? Math.max(low, limits.maxGlobalBatch())
            : low;
    int batches = high > low ? BATCHES : 1;
    for (int b = 0; b < batches; b++) {
      double batch = batches == 1 ? low : low * Math.pow(high / low, b / (batches - 1.0));
      Optional<BatchPlan> plan = GoodputModel.split(batch, replicas, limits);
      if (plan.isPresent()) {
        // Examples that rounding added beyond the limits gain nothing.
        int global = Math.min(plan.get().globalBatchSize(replicas), (int) Math.ceil(high));
        raise(pace, key, layout, global, plan.get());
      }
    }
  }

  private void raise(double[] pace, String key, int[] layout, int global, BatchPlan plan) {
    StepTime time = application.stepTime(key, layout, plan.atomicBatchSize());
    if (!time.isKnown()) {
      return;
    }
    double seconds = time.stepSeconds(plan.accumulationSteps()) * application.slowdown();
    for (int e = 0; e < pace.length; e++) {
      pace[e] = Math.max(pace[e], application.gradient(global, e).gain(global) / seconds);
    }
  }

  /**
   * Replicas by node, the fullest first: every partition where there are few of them, else one that
   * is as even as can be for each number of nodes.
   */
  static List<int[]> layouts(int replicas, int perNode, int nodes) {
    List<int[]> found = new ArrayList<>();
    if (perNode > 0 && !partition(replicas, perNode, nodes, new int[0], found)) {
      found.clear();
      for (int on = Math.ceilDiv(replicas, perNode); on <= Math.min(nodes, replicas); on++) {
        int[] even = new int[on];
        Arrays.fill(even, replicas / on);
        for (int i = 0; i < replicas % on; i++) {
          even[i]++;
        }
        found.add(even);
      }
      found.add(tight(replicas, perNode));
    }
    return found;
  }

  private static int[] tight(int replicas, int perNode) {
    int[] counts = new int[Math.ceilDiv(replicas, perNode)];
    Arrays.fill(counts, perNode);
    counts[counts.length - 1] = replicas - perNode * (counts.length - 1);
    return counts;
  }

  /** Adds all partitions; false where there are too many. */
  private static boolean partition(int left, int most, int nodes, int[] begun, List<int[]> found) {
    if (left == 0) {
      found.add(begun);
      return found.size() <= MOST_LAYOUTS;
    }
    if (nodes == 0) {
      return true;
    }
    for (int here = Math.min(left, most); here > 0; here--) {
      int[] next = Arrays.copyOf(begun, begun.length + 1);
      next[begun.length] = here;
      if (!partition(left - here, here, nodes - 1, next, found)) {
        return false;
      }
    }
    return true;
  }
}
