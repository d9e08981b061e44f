package dev.kastor.operator.job;

import dev.kastor.crds.TrainingJob;
import jakarta.inject.Singleton;
import java.time.Instant;

/** Whether a job that has nothing may be given slots; one that may not never reaches a policy. */
@Singleton
public final class JobAdmission {
  private final JobStatusWriter statuses;

  public JobAdmission(JobStatusWriter statuses) {
    this.statuses = statuses;
  }

  /** Whether the job has to wait for something else than slots. */
  public boolean held(TrainingJob job, Instant now) {
    return KueueHold.due(job) || statuses.notBefore(job).filter(now::isBefore).isPresent();
  }
}
