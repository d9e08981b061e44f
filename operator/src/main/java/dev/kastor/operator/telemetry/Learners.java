package dev.kastor.operator.telemetry;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.family.FamilyStore;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.nodes.SlowNodes;
import jakarta.inject.Singleton;
import java.time.Instant;

/** Learning from jobs: what their families know, and how fast the nodes are that they train on. */
@Singleton
public final class Learners {
  private final FamilyStore families;
  private final SlowNodes slow;

  public Learners(FamilyStore families, SlowNodes slow) {
    this.families = families;
    this.slow = slow;
  }

  /** Telemetry of a job of which this operator hears for the first time. */
  JobTelemetry telemetry(TrainingJob job, Instant now) {
    return new JobTelemetry(
        job, families.learner(job), slow.steps(Labels.id(job), families.family(job)), now);
  }

  /** Tells of the nodes whose speed turned out to be another one by reports of the job. */
  void tell(TrainingJob job, JobTelemetry telemetry) {
    slow.changed(job, telemetry.takeSpeedsChanged());
  }
}
