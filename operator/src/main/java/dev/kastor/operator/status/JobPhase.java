package dev.kastor.operator.status;

import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import org.jspecify.annotations.Nullable;

/**
 * Where an unfinished job is, and why.
 *
 * @param phase where
 * @param reason one word
 * @param message one sentence
 */
public record JobPhase(Phase phase, String reason, String message) {
  /** The same of a job that Kueue admits. */
  public JobPhase heldForKueue(String queue) {
    return phase == Phase.Suspended
        ? new JobPhase(
            phase,
            JobReason.HeldForKueue.name(),
            "LocalQueue %s of Kueue admits the job by setting spec.suspend to false."
                .formatted(queue))
        : this;
  }

  /**
   * Derives the phase from what there is.
   *
   * @param suspended whether the user wants it to hold nothing
   * @param allocation what the scheduler gave
   * @param members live replicas that train together
   * @param occupied pods that still hold slots
   * @param training whether it is known to train although its members are not known yet
   */
  public static JobPhase derive(
      boolean suspended,
      @Nullable AllocationStatus allocation,
      int members,
      int occupied,
      boolean training) {
    int target = allocation == null ? 0 : allocation.replicas();
    if (suspended && occupied == 0) {
      return new JobPhase(
          Phase.Suspended,
          JobReason.SuspendedByUser.name(),
          "The job holds nothing until suspend is false.");
    }
    if (members > 0 || training) {
      String reason =
          suspended ? JobReason.Suspending.name() : allocation == null ? "" : allocation.reason();
      String message =
          suspended
              ? "The replicas stop at a checkpoint."
              : allocation == null ? "" : allocation.message();
      return new JobPhase(
          Phase.Running, reason.isEmpty() ? JobReason.Training.name() : reason, message);
    }
    if (target > 0) {
      return new JobPhase(
          Phase.Starting,
          JobReason.WaitingForReplicas.name(),
          // Not how many are ready: that would be one more write for each.
          "%d replicas are starting.".formatted(target));
    }
    if (allocation != null && !suspended) {
      return new JobPhase(Phase.Queued, allocation.reason(), allocation.message());
    }
    return suspended
        ? new JobPhase(Phase.Queued, JobReason.Suspending.name(), "The last replicas are leaving.")
        : new JobPhase(
            Phase.Queued,
            JobReason.WaitingForSlots.name(),
            "The scheduler has given no slots yet.");
  }
}
