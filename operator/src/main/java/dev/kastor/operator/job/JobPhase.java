package dev.kastor.operator.job;

import dev.kastor.crds.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.TrainingJobStatus.Phase;
import org.jspecify.annotations.Nullable;

/**
 * Where an unfinished job is, and why.
 *
 * @param phase where
 * @param reason one word
 * @param message one sentence
 */
public record JobPhase(Phase phase, String reason, String message) {
  /**
   * Derives the phase from what there is.
   *
   * @param suspended whether the user wants it to hold nothing
   * @param allocation what the scheduler gave
   * @param members live replicas that train together
   * @param occupied pods that still hold slots
   * @param training whether it is known to train although its members are not known yet
   * @param ready replicas that can join
   */
  public static JobPhase derive(
      boolean suspended,
      @Nullable AllocationStatus allocation,
      int members,
      int occupied,
      boolean training,
      int ready) {
    int target = allocation == null ? 0 : allocation.replicas();
    if (suspended && occupied == 0) {
      return new JobPhase(
          Phase.Suspended, "SuspendedByUser", "The job holds nothing until suspend is false.");
    }
    if (members > 0 || training) {
      String reason = suspended ? "Suspending" : allocation == null ? "" : allocation.reason();
      String message =
          suspended
              ? "The replicas stop at a checkpoint."
              : allocation == null ? "" : allocation.message();
      return new JobPhase(Phase.Running, reason.isEmpty() ? "Training" : reason, message);
    }
    if (target > 0) {
      return new JobPhase(
          Phase.Starting,
          "WaitingForReplicas",
          "%d of %d replicas are ready.".formatted(ready, target));
    }
    if (allocation != null && !suspended) {
      return new JobPhase(Phase.Queued, allocation.reason(), allocation.message());
    }
    return suspended
        ? new JobPhase(Phase.Queued, "Suspending", "The last replicas are leaving.")
        : new JobPhase(Phase.Queued, "WaitingForSlots", "The scheduler has given no slots yet.");
  }
}
