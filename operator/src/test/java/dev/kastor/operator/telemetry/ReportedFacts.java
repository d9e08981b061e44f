package dev.kastor.operator.telemetry;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.estimate.GoodputEstimator;
import dev.kastor.scheduler.estimate.Learner;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.scheduler.speed.NodeSpeeds;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Telemetry of one job as the operator keeps it, for tests of other packages. */
public final class ReportedFacts {
  private final JobTelemetry telemetry;

  /** Telemetry of a job that this policy learns of, beside what is known of nodes. */
  public ReportedFacts(TrainingJob job, String policy, NodeSpeeds speeds, Instant now) {
    telemetry =
        new JobTelemetry(
            job,
            new Learner(
                JobSpecs.of(job),
                new GoodputEstimator(
                    JobSpecs.of(job),
                    GoodputEstimator.Merging.NEWEST,
                    Policies.factory(policy, PolicyContext.online(1)).traits().learning()),
                Optional.empty()),
            TestJobs.steps(job, speeds),
            now);
  }

  /** A generation of as many members as the allocation has. */
  public void published(
      long generation, Allocation given, String gpuType, Instant at, Instant allocated) {
    telemetry.published(
        generation,
        new SeenBounds.Published(
            given.nodes(), given.replicas(), gpuType, Optional.of(at), Optional.of(allocated)),
        List.copyOf(given.replicasByNode().keySet()));
  }

  public void accept(TelemetryReport report, Instant now) {
    telemetry.accept(report, now);
  }

  public boolean trained(Instant since, int replicas) {
    return telemetry.trained(since, replicas);
  }

  public Measured measured(Instant now) {
    return telemetry.measured(now);
  }
}
