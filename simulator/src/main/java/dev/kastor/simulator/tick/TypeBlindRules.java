package dev.kastor.simulator.tick;

import static java.util.stream.Collectors.joining;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.Node;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Sia's artifact (SOSP 2023) for policies that do not see GPU types, such as Pollux.
 *
 * <p>Nodes are cut into virtual ones of as many GPUs as the smallest has. Jobs know the batches of
 * the first type only and file all reports under one. Of an allocation over several types only the
 * GPUs of the most frequent one are taken (of equally frequent ones that of the fastest); the
 * others idle until the next decision.
 */
final class TypeBlindRules implements TickRules {
  private static final double BELIEVED_RESTART_SECONDS = 30;

  private record Real(String node, String gpuType) {}

  private final ClusterShape cluster;
  private final List<Node> virtual = new ArrayList<>();
  private final Map<String, Real> real = new HashMap<>();
  private final int leastGpus;
  private final int leastPerNode;

  TypeBlindRules(ClusterShape cluster) {
    this.cluster = cluster.alike();
    leastPerNode =
        cluster.groups().stream().mapToInt(ClusterShape.Group::gpusPerNode).min().orElseThrow();
    for (Node node : cluster.nodes()) {
      for (int left = node.slots(), part = 0; left > 0; left -= leastPerNode, part++) {
        String name = "%s.%d".formatted(node.name(), part);
        virtual.add(new Node(name, "", Math.min(leastPerNode, left)));
        real.put(name, new Real(node.name(), node.gpuType()));
      }
    }
    leastGpus =
        this.cluster.groups().stream().mapToInt(ClusterShape.Group::gpus).min().orElseThrow();
  }

  @Override
  public List<Node> nodes() {
    return virtual;
  }

  @Override
  public JobSpec spec(Workload.Job job, Application application, Control control) {
    for (ClusterShape.Group group : cluster.groups()) {
      if (!application.gpuTypes().contains(group.gpuType())) {
        throw new IllegalArgumentException(
            "application %s of job %s was not measured on GPU type '%s', and the policy does not see types. Use one that does"
                .formatted(application.name(), job.name(), group.gpuType()));
      }
    }
    Elasticity elasticity = bounded(SiaRules.elasticity(job, application, control));
    BatchLimits limits = SiaRules.target(job, believed(application), elasticity);
    return new JobSpec(
        new JobId("replay", job.name()),
        Instant.EPOCH.plus(Duration.ofNanos(Math.round(job.submitSeconds() * 1e9))),
        job.application(),
        elasticity,
        job.requestedReplicas(),
        limits,
        "",
        new LinkedHashMap<>(),
        job.queue(),
        job.priority(),
        slotsPerReplica(job, application),
        Map.of());
  }

  /** Slots of a replica, which must be as many on all types: the policy sees no types. */
  private int slotsPerReplica(Workload.Job job, Application application) {
    int[] sizes =
        cluster.groups().stream()
            .mapToInt(group -> job.slotsPerReplica(application, group.gpuType()))
            .distinct()
            .toArray();
    if (sizes.length > 1 || sizes[0] > leastPerNode) {
      throw new IllegalArgumentException(
          "a replica of job %s takes %s GPUs of one node, and the policy sees nodes of %d GPUs of one type. Use one that sees types"
              .formatted(
                  job.name(),
                  Arrays.stream(sizes).mapToObj(Integer::toString).collect(joining(" or ")),
                  leastPerNode));
    }
    return sizes[0];
  }

  private BatchLimits believed(Application application) {
    return application.batchLimits(cluster.groups().getFirst().gpuType());
  }

  /** No job may outgrow a type, or it would always lose GPUs. */
  private Elasticity bounded(Elasticity elasticity) {
    int most = Math.min(elasticity.max(), leastGpus);
    return switch (elasticity) {
      case Elasticity.Rigid rigid -> rigid;
      case Elasticity.Elastic elastic ->
          new Elasticity.Elastic(elastic.min(), most, elastic.allowed());
      case Elasticity.Restarting restarting ->
          new Elasticity.Restarting(restarting.min(), most, restarting.allowed());
      case Elasticity.Adaptive adaptive ->
          new Elasticity.Adaptive(adaptive.min(), most, adaptive.allowed());
    };
  }

  @Override
  public Allocation usable(Application application, Allocation given) {
    if (given.isEmpty()) {
      return given;
    }
    Map<String, Integer> slots = new HashMap<>();
    for (int i = 0; i < given.nodes(); i++) {
      slots.merge(real(given, i).gpuType(), given.slots(i), Integer::sum);
    }
    String type =
        slots.keySet().stream()
            .max(
                Comparator.<String>comparingInt(one -> slots.getOrDefault(one, 0))
                    .thenComparingDouble(one -> application.traits(one).referenceSpeed())
                    .thenComparing(Comparator.reverseOrder()))
            .orElseThrow();
    SequencedMap<String, Integer> used = new LinkedHashMap<>();
    for (int i = 0; i < given.nodes(); i++) {
      if (real(given, i).gpuType().equals(type)) {
        used.put(given.node(i), given.replicas(i));
      }
    }
    return new Allocation(used, given.slotsPerReplica());
  }

  @Override
  public Placement place(JobSpec spec, Application application, Allocation allocation) {
    String type = real(allocation, 0).gpuType();
    Map<String, Integer> counts = new LinkedHashMap<>();
    for (int i = 0; i < allocation.nodes(); i++) {
      counts.merge(real(allocation, i).node(), allocation.replicas(i), Integer::sum);
    }
    int[] replicasByNode = counts.values().stream().mapToInt(Integer::intValue).toArray();
    return new Placement(
        type,
        SiaRules.withinMeasured(replicasByNode, application.traits(type).maxNodes()),
        allocation.slotsPerReplica());
  }

  private Real real(Allocation allocation, int i) {
    Real found = real.get(allocation.node(i));
    if (found == null) {
      throw new IllegalArgumentException("there is no node " + allocation.node(i));
    }
    return found;
  }

  @Override
  public boolean pauses(Placement from, Placement to) {
    return !from.sameAs(to);
  }

  @Override
  public BatchPlan batch(
      JobSpec spec, Application application, Optional<GoodputModel> model, Placement placement) {
    return SiaBatch.choose(spec, application, model, placement, spec.batchLimits(), "");
  }

  @Override
  public String reportedType(String gpuType) {
    return "";
  }

  @Override
  public double believedRestartSeconds(Application application) {
    return BELIEVED_RESTART_SECONDS;
  }
}
