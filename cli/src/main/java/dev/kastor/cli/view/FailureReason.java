package dev.kastor.cli.view;

import dev.kastor.crds.trainingjob.TrainingJob;
import java.util.Optional;

/** Reason of the failure of a job, in the words of its condition. */
public final class FailureReason {
  private FailureReason() {}

  /** Reason and message; empty unless the job failed. */
  public static Optional<String> of(TrainingJob job) {
    if (job.getStatus() == null || job.getStatus().conditions() == null) {
      return Optional.empty();
    }
    return job.getStatus().conditions().stream()
        .filter(c -> "Failed".equals(c.getType()) && "True".equals(c.getStatus()))
        .findFirst()
        .map(c -> "%s: %s".formatted(c.getReason(), c.getMessage()));
  }
}
