package dev.kastor.operator.kube;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.training.ServerChoice;
import java.util.Optional;

/** Parameter servers of jobs, as their specs ask for them. */
public final class JobServers {
  private JobServers() {}

  /** What the job asks for; empty for none, and where that cannot be read: such a job fails. */
  public static Optional<ServerChoice> of(TrainingJob job) {
    try {
      return ServerChoice.of(job.getSpec().training());
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** How many there are to be while the job has replicas. */
  public static int count(TrainingJob job) {
    return of(job).map(ServerChoice::servers).orElse(0);
  }
}
