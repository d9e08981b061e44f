package dev.kastor.scheduler.policy.sia;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.policy.support.GivenBatch;
import dev.kastor.scheduler.policy.support.GpuTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;

/**
 * What a job may get and what each of it is worth (Sia, SOSP 2023, section 3.2): a few sizes of
 * each GPU type, by goodput relative to the least of them.
 *
 * <p>On a type that a job has not run on, goodput is what it would be on the first type that it
 * knows, times the ratio of the two types' speeds for one replica. A job that has run nowhere finds
 * all types alike.
 */
final class SiaChoices {
  /** Replicas on one type and what they are worth; the least a job may get is worth 1. */
  record Valued(int type, int replicas, int slotsPerReplica, double value) {
    int slots() {
      return replicas * slotsPerReplica;
    }

    Valued over(double unit) {
      return new Valued(type, replicas, slotsPerReplica, value / unit);
    }
  }

  private final List<String> types;
  private final List<List<Node>> nodes;
  private final int[] sizes;
  private final int[] slots;
  private final boolean faithful;

  SiaChoices(SequencedMap<String, List<Node>> nodesByType, boolean faithful) {
    types = List.copyOf(nodesByType.keySet());
    nodes = List.copyOf(nodesByType.values());
    sizes = nodes.stream().mapToInt(GpuTypes::largest).toArray();
    slots = nodes.stream().mapToInt(own -> own.stream().mapToInt(Node::slots).sum()).toArray();
    this.faithful = faithful;
  }

  /** All that the job may get now. */
  List<Valued> of(JobState job) {
    return job.spec().elasticity() instanceof Elasticity.Rigid ? rigid(job) : elastic(job);
  }

  private List<Valued> rigid(JobState job) {
    int replicas = job.spec().elasticity().min();
    List<Valued> rates = new ArrayList<>();
    for (int t = 0; t < sizes.length; t++) {
      int each = job.spec().slotsPerReplica(types.get(t));
      if (sizes[t] > 0 && replicas <= most(t, each) && job.spec().runsOn(types.get(t))) {
        rates.add(
            new Valued(
                t, replicas, each, GivenBatch.stepsPerSecond(job, types.get(t), nodes.get(t))));
      }
    }
    double slowest = rates.stream().mapToDouble(Valued::value).min().orElse(1);
    return rates.stream()
        .map(one ->
            new Valued(
                one.type(), replicas, one.slotsPerReplica(), replicas * one.value() / slowest))
        .toList();
  }

  private List<Valued> elastic(JobState job) {
    List<Valued> valued = new ArrayList<>();
    double least = Double.POSITIVE_INFINITY;
    for (int t = 0; t < sizes.length; t++) {
      for (int replicas : replicas(job, t)) {
        double goodput = goodput(job, t, replicas);
        if (goodput > 0) {
          valued.add(new Valued(t, replicas, job.spec().slotsPerReplica(types.get(t)), goodput));
          least = Math.min(least, goodput);
        }
      }
    }
    double unit = least;
    return valued.stream().map(one -> one.over(unit)).toList();
  }

  /** Most replicas of so many slots that the nodes of a type can hold. */
  private int most(int t, int slotsPerReplica) {
    return slotsPerReplica == 1
        ? slots[t]
        : nodes.get(t).stream().mapToInt(node -> node.replicas(slotsPerReplica)).sum();
  }

  /** Powers of two within a node and whole nodes, as far as the job may have them. */
  private List<Integer> replicas(JobState job, int t) {
    JobSpec spec = job.spec();
    String type = types.get(t);
    int perNode = sizes[t] / spec.slotsPerReplica(type);
    if (perNode == 0 || !spec.runsOn(type)) {
      return List.of();
    }
    Elasticity elasticity = spec.elasticity();
    int room = most(t, spec.slotsPerReplica(type));
    GpuTraits traits = spec.byGpuType().get(type);
    int mostNodes =
        Math.min(nodes.get(t).size(), traits == null ? Integer.MAX_VALUE : traits.maxNodes());
    int bound = Math.min(elasticity.max(), BatchChoice.maxReplicas(spec));
    // Twice what was measured, so that predictions stay near; what it holds it may keep.
    int reach = Math.max(2 * job.maxProfiledReplicas(), elasticity.min());
    int most =
        Math.max(Math.min(bound, reach), Math.max(elasticity.min(), job.allocation().replicas()));
    List<Integer> counts = new ArrayList<>();
    if (elasticity.min() <= room) {
      counts.add(elasticity.min());
    }
    for (int replicas = 1; replicas <= room; replicas = next(replicas, perNode)) {
      if (Math.ceilDiv(replicas, perNode) > mostNodes || replicas > most) {
        break;
      }
      if (replicas > elasticity.min() && elasticity.allows(replicas)) {
        counts.add(replicas);
      }
    }
    return job.model().isEmpty() ? counts.subList(0, Math.min(1, counts.size())) : counts;
  }

  private static int next(int replicas, int perNode) {
    return replicas >= perNode ? replicas + perNode : Math.min(2 * replicas, perNode);
  }

  private double goodput(JobState job, int t, int replicas) {
    if (job.model().isEmpty()) {
      return 1;
    }
    GoodputModel model = job.model().get();
    if (model.knows(types.get(t))) {
      return goodput(job.spec(), model, t, replicas);
    }
    for (int k = 0; k < sizes.length; k++) {
      int perNode = sizes[k] / job.spec().slotsPerReplica(types.get(k));
      if (perNode > 0 && model.knows(types.get(k)) && job.spec().runsOn(types.get(k))) {
        double speed = speed(job.spec(), t);
        double known = speed(job.spec(), k);
        double ratio = speed > 0 && known > 0 ? speed / known : 1;
        return ratio * goodput(job.spec(), model, k, replicas);
      }
    }
    return 0;
  }

  private double speed(JobSpec spec, int t) {
    GpuTraits traits = spec.byGpuType().get(types.get(t));
    return traits == null ? 0 : traits.referenceSpeed();
  }

  private double goodput(JobSpec spec, GoodputModel model, int t, int replicas) {
    String type = types.get(t);
    int perNode = sizes[t] / spec.slotsPerReplica(type);
    PlacementShape shape = new PlacementShape(Math.ceilDiv(replicas, perNode), replicas, type);
    if (!(spec.elasticity() instanceof Elasticity.Adaptive) || !faithful) {
      return BatchChoice.goodput(spec, model, shape);
    }
    // The published policy believes that a job keeps to the batch it was tuned for.
    BatchLimits limits = spec.batchLimits(type);
    int cap =
        Math.max(
            Math.max(limits.targetGlobalBatch(), limits.initialGlobalBatch()),
            limits.minAtomicBatch() * replicas);
    return model.best(shape, limits.withMaxGlobalBatch(cap)).map(b -> b.goodput()).orElse(0.0);
  }
}
