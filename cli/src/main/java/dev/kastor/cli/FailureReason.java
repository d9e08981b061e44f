package dev.kastor.cli;

import dev.kastor.crds.trainingjob.TrainingJob;
import java.util.Optional;

/** Why a job failed, in the words of its condition. */
final class FailureReason {
  private FailureReason() {}

  /** Reason and message; empty unless the job failed. */
  static Optional<String> of(TrainingJob job) {
    if (job.getStatus() == null || job.getStatus().conditions() == null) {
      return Optional.empty();
    }
    return job.getStatus().conditions().stream()
        .filter(c -> "Failed".equals(c.getType()) && "True".equals(c.getStatus()))
        .findFirst()
        .map(c -> "%s: %s".formatted(c.getReason(), c.getMessage()));
  }
}
