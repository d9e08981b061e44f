package dev.kastor.simulator.event;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.policy.support.Sizes;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.IntStream;

/**
 * Turns a workload's jobs into what a policy may decide about them: the lesser of what the policy
 * can do and what the job's owner allows.
 */
public final class EventSpecs {
  private static final String NAMESPACE = "replay";

  private EventSpecs() {}

  /**
   * The spec of a job.
   *
   * @throws IllegalArgumentException if the job can never run on this cluster
   */
  public static JobSpec of(
      Workload.Job job, Application application, Control control, ClusterShape largest) {
    if (application instanceof SpecifiedApplication own) {
      JobSpec spec = specified(job, own.spec(), control);
      check(spec, largest);
      return spec;
    }
    Elasticity elasticity = elasticity(job, application, control);
    int target = target(job, application, elasticity);
    SequencedMap<String, GpuTraits> byType = new LinkedHashMap<>();
    if (!application.gpuTypes().contains("")) {
      for (String type : application.gpuTypes()) {
        GpuTraits measured = application.traits(type);
        byType.put(
            type,
            measured
                .withBatchLimits(limits(application, type, target))
                .withSlotsPerReplica(job.slotsPerReplica(application, type)));
      }
    }
    String first = application.gpuTypes().getFirst();
    JobSpec spec =
        new JobSpec(
            new JobId(NAMESPACE, job.name()),
            Instant.EPOCH.plus(VirtualClock.duration(job.submitSeconds())),
            job.application(),
            elasticity,
            job.requestedReplicas(),
            limits(application, first, target),
            "",
            byType,
            job.queue(),
            job.priority(),
            job.slotsPerReplica(application, first),
            Map.of());
    check(spec, largest);
    return spec;
  }

  /** What the job was submitted with, as far as the policy can decide on it. */
  private static JobSpec specified(Workload.Job job, JobSpec own, Control control) {
    Elasticity allowed = own.elasticity();
    Elasticity elasticity =
        control == Control.PLACEMENT
            ? new Elasticity.Rigid(own.requestedReplicas())
            : control != Control.SIZE_AND_BATCH && allowed instanceof Elasticity.Adaptive adaptive
                ? new Elasticity.Elastic(adaptive.min(), adaptive.max(), adaptive.allowed())
                : allowed;
    return new JobSpec(
        new JobId(NAMESPACE, job.name()),
        Instant.EPOCH.plus(VirtualClock.duration(job.submitSeconds())),
        own.family(),
        elasticity,
        own.requestedReplicas(),
        own.batchLimits(),
        own.gpuType(),
        own.byGpuType(),
        own.queue(),
        own.priority(),
        own.slotsPerReplica(),
        own.mostExamples(),
        own.declaredSteps());
  }

  private static Elasticity elasticity(Workload.Job job, Application application, Control control) {
    int most = Math.min(job.maxReplicas(), application.maxReplicas());
    int requested = Math.min(job.requestedReplicas(), most);
    AllowedReplicas any = new AllowedReplicas.Any();
    boolean choosesBatch =
        control == Control.SIZE_AND_BATCH
            && job.category() == Workload.Category.ADAPTIVE
            && application.fixedGlobalBatch().isEmpty();
    if (control == Control.PLACEMENT || job.category() == Workload.Category.RIGID) {
      return new Elasticity.Rigid(requested);
    }
    if (job.category() == Workload.Category.RESTART) {
      return new Elasticity.Restarting(job.minReplicas(), most, any);
    }
    return choosesBatch
        ? new Elasticity.Adaptive(job.minReplicas(), most, any)
        : new Elasticity.Elastic(job.minReplicas(), most, any);
  }

  private static int target(Workload.Job job, Application application, Elasticity elasticity) {
    int initial = application.batchLimits(application.gpuTypes().getFirst()).initialGlobalBatch();
    if (elasticity instanceof Elasticity.Adaptive) {
      return initial;
    }
    return job.globalBatch() > 0
        ? job.globalBatch()
        : application.fixedGlobalBatch().orElse(initial);
  }

  private static BatchLimits limits(Application application, String type, int target) {
    BatchLimits limits = application.batchLimits(type);
    return limits.withTarget(Math.min(target, limits.maxGlobalBatch()));
  }

  /** A job that no cluster of this shape can ever run would hold up the replay to its end. */
  private static void check(JobSpec spec, ClusterShape largest) {
    int least = spec.elasticity().min();
    List<ClusterShape.Group> usable =
        largest.alike().groups().stream().filter(group -> spec.runsOn(group.gpuType())).toList();
    if (usable.isEmpty()) {
      throw new IllegalArgumentException(
          "job %s runs on GPU types %s only, and the cluster %s has none of them"
              .formatted(spec.id().name(), String.join(", ", spec.byGpuType().keySet()), largest));
    }
    boolean mixes = spec.byGpuType().isEmpty();
    IntStream replicas =
        usable.stream().mapToInt(group -> group.replicas(spec.slotsPerReplica(group.gpuType())));
    int room = mixes ? replicas.sum() : replicas.max().orElse(0);
    if (least > room) {
      throw new IllegalArgumentException(
          "job %s needs %s%s and the cluster %s never has more than %d. Enlarge the cluster or lower the job's replicas."
              .formatted(
                  spec.id().name(),
                  Sizes.leastSlotsPerReplica(spec) == 1
                      ? least + " GPUs"
                      : "%d times %d GPUs of one node"
                          .formatted(least, Sizes.leastSlotsPerReplica(spec)),
                  mixes ? "" : " of one type",
                  largest,
                  room));
    }
    PlacementShape shape = new PlacementShape(1, least, usable.getFirst().gpuType());
    if (BatchChoice.choose(spec, Optional.empty(), shape).isEmpty()) {
      throw new IllegalArgumentException(
          "job %s cannot split a batch over %d replicas within %s"
              .formatted(spec.id().name(), least, spec.batchLimits(shape.gpuType())));
    }
  }
}
