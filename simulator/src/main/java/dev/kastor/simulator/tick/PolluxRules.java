package dev.kastor.simulator.tick;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.BatchChoice;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Pollux's artifact (OSDI 2021): one kind of GPU, and every change of allocation is a restart. */
record PolluxRules(List<Node> nodes) implements TickRules {
  PolluxRules(ClusterShape cluster) {
    this(cluster.nodes());
  }

  @Override
  public JobSpec spec(Workload.Job job, Application application, Control control) {
    BatchLimits limits = application.batchLimits("");
    Elasticity elasticity = SiaRules.elasticity(job, application, control);
    BatchLimits target = SiaRules.target(job, limits, elasticity);
    if (elasticity instanceof Elasticity.Adaptive && application.fixedGlobalBatch().isPresent()) {
      // An application that was measured with one batch only keeps it.
      elasticity =
          new Elasticity.Elastic(elasticity.min(), elasticity.max(), new AllowedReplicas.Any());
      target = limits.withTarget(application.fixedGlobalBatch().getAsInt());
    }
    return new JobSpec(
        new JobId("replay", job.name()),
        Instant.EPOCH.plus(Duration.ofNanos(Math.round(job.submitSeconds() * 1e9))),
        job.application(),
        elasticity,
        job.requestedReplicas(),
        target,
        "",
        new LinkedHashMap<>(),
        job.queue(),
        job.priority(),
        job.slotsPerReplica(application, ""),
        Map.of());
  }

  @Override
  public Placement place(JobSpec spec, Application application, Allocation allocation) {
    return new Placement("", allocation.replicaCounts(), allocation.slotsPerReplica());
  }

  @Override
  public boolean pauses(Placement from, Placement to) {
    return true;
  }

  @Override
  public BatchPlan batch(
      JobSpec spec, Application application, Optional<GoodputModel> model, Placement placement) {
    return BatchChoice.choose(spec, model, placement.shape(""))
        .orElseThrow(() ->
            new IllegalStateException(
                "job %s has no batch for %s within %s"
                    .formatted(spec.id(), placement, spec.batchLimits())));
  }

  @Override
  public String reportedType(String gpuType) {
    return "";
  }

  @Override
  public double believedRestartSeconds(Application application) {
    return application.believedRestartSeconds();
  }
}
