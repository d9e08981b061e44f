package dev.kastor.simulator.tick;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.Node;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Sia's artifact (SOSP 2023) for policies that see GPU types: a job restarts only if its type or
 * its counts by node change, and learns about each type apart.
 */
final class SiaRules implements TickRules {
  private final ClusterShape cluster;
  private final List<Node> nodes;
  private final Map<String, String> types = new HashMap<>();

  SiaRules(ClusterShape cluster) {
    this.cluster = cluster;
    nodes = cluster.nodes();
    for (Node node : nodes) {
      types.put(node.name(), node.gpuType());
    }
  }

  @Override
  public List<Node> nodes() {
    return nodes;
  }

  @Override
  public JobSpec spec(Workload.Job job, Application application, Control control) {
    Elasticity elasticity = elasticity(job, application, control);
    SequencedMap<String, GpuTraits> traits = new LinkedHashMap<>();
    for (ClusterShape.Group group : cluster.groups()) {
      if (application.gpuTypes().contains(group.gpuType())) {
        GpuTraits measured = application.traits(group.gpuType());
        traits.put(
            group.gpuType(),
            measured
                .withBatchLimits(target(job, measured.batchLimits(), elasticity))
                .withSlotsPerReplica(job.slotsPerReplica(application, group.gpuType())));
      }
    }
    if (traits.isEmpty()) {
      throw new IllegalArgumentException(
          "application %s of job %s was measured on GPU types %s, none of which cluster %s has"
              .formatted(
                  application.name(),
                  job.name(),
                  String.join(", ", application.gpuTypes()),
                  cluster));
    }
    return new JobSpec(
        new JobId("replay", job.name()),
        Instant.EPOCH.plus(Duration.ofNanos(Math.round(job.submitSeconds() * 1e9))),
        job.application(),
        elasticity,
        job.requestedReplicas(),
        traits.firstEntry().getValue().batchLimits(),
        "",
        traits,
        job.queue(),
        job.priority());
  }

  /**
   * Jobs of a published workload name the batch that they were tuned for. Without one, a job keeps
   * its initial batch, or, where it may choose, may believe in any.
   */
  static BatchLimits target(Workload.Job job, BatchLimits limits, Elasticity elasticity) {
    int untuned =
        elasticity instanceof Elasticity.Adaptive
            ? limits.maxGlobalBatch()
            : limits.initialGlobalBatch();
    int tuned = job.globalBatch() == 0 ? untuned : job.globalBatch();
    return limits.withTarget(Math.min(tuned, limits.maxGlobalBatch()));
  }

  static Elasticity elasticity(Workload.Job job, Application application, Control control) {
    int most = Math.min(job.maxReplicas(), application.maxReplicas());
    AllowedReplicas any = new AllowedReplicas.Any();
    return switch (control) {
      case PLACEMENT -> new Elasticity.Rigid(job.requestedReplicas());
      case SIZE -> new Elasticity.Elastic(1, most, any);
      case SIZE_AND_BATCH ->
          switch (job.category()) {
            case ADAPTIVE -> new Elasticity.Adaptive(1, most, any);
            case SCALE_GPUS -> new Elasticity.Elastic(1, job.requestedReplicas(), any);
            case RESTART -> new Elasticity.Restarting(1, most, any);
            case RIGID -> new Elasticity.Rigid(job.requestedReplicas());
          };
    };
  }

  @Override
  public Placement place(JobSpec spec, Application application, Allocation allocation) {
    if (allocation.isEmpty()) {
      return Placement.NONE;
    }
    String type = types.getOrDefault(allocation.node(0), "");
    return new Placement(
        type,
        withinMeasured(allocation.replicaCounts(), application.traits(type).maxNodes()),
        allocation.slotsPerReplica());
  }

  /** Over more nodes than were ever measured, a job counts as evenly spread over those. */
  static int[] withinMeasured(int[] replicasByNode, int maxNodes) {
    if (replicasByNode.length <= maxNodes) {
      return replicasByNode;
    }
    int left = Arrays.stream(replicasByNode).sum();
    int each = Math.ceilDiv(left, maxNodes);
    int[] even = new int[Math.ceilDiv(left, each)];
    for (int n = 0; n < even.length; n++) {
      even[n] = Math.min(each, left);
      left -= even[n];
    }
    return even;
  }

  @Override
  public boolean pauses(Placement from, Placement to) {
    return !from.sameAs(to);
  }

  @Override
  public BatchPlan batch(
      JobSpec spec, Application application, Optional<GoodputModel> model, Placement placement) {
    String type = placement.gpuType();
    return SiaBatch.choose(spec, application, model, placement, spec.batchLimits(type), type);
  }

  @Override
  public String reportedType(String gpuType) {
    return gpuType;
  }

  @Override
  public double believedRestartSeconds(Application application) {
    return application.believedRestartSeconds();
  }
}
