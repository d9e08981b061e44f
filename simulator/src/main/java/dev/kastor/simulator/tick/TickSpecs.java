package dev.kastor.simulator.tick;

import dev.kastor.scheduler.AllowedReplicas;
import dev.kastor.scheduler.BatchLimits;
import dev.kastor.scheduler.Control;
import dev.kastor.scheduler.Elasticity;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.simulator.Mode;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;

/** Turns a workload's jobs into what a policy may decide about them. */
final class TickSpecs {
  private TickSpecs() {}

  static JobSpec of(Mode mode, Workload.Job job, Application application, Control control) {
    BatchLimits limits = application.batchLimits("");
    int most = Math.min(job.maxReplicas(), application.maxReplicas());
    AllowedReplicas any = new AllowedReplicas.Any();
    int tuned = job.globalBatch() == 0 ? limits.initialGlobalBatch() : job.globalBatch();
    Elasticity elasticity =
        switch (control) {
          case PLACEMENT -> new Elasticity.Rigid(job.requestedReplicas());
          case SIZE -> new Elasticity.Elastic(1, most, any);
          case SIZE_AND_BATCH ->
              application.fixedGlobalBatch().isPresent()
                  ? new Elasticity.Elastic(1, most, any)
                  : new Elasticity.Adaptive(1, most, any);
        };
    int target =
        control == Control.SIZE_AND_BATCH
            ? application.fixedGlobalBatch().orElse(limits.initialGlobalBatch())
            : tuned;
    return new JobSpec(
        new JobId("replay", job.name()),
        Instant.EPOCH.plus(Duration.ofNanos(Math.round(job.submitSeconds() * 1e9))),
        job.application(),
        elasticity,
        job.requestedReplicas(),
        limits.withTarget(target),
        "",
        new LinkedHashMap<>());
  }
}
