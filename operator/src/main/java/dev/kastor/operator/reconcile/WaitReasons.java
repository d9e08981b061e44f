package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.lifecycle.JobAdmission;
import dev.kastor.operator.queue.QueueRules;
import dev.kastor.operator.scheduling.Decisions;
import dev.kastor.operator.status.Hold;
import dev.kastor.operator.status.JobPhase;
import dev.kastor.operator.status.JobReason;
import dev.kastor.scheduler.model.Reason;
import jakarta.inject.Singleton;
import java.util.Optional;

/**
 * Reasons for which jobs wait: no pods can be made, their queue refuses them, or a round said so.
 */
@Singleton
final class WaitReasons {
  private final JobAdmission admission;
  private final QueueRules queues;
  private final Decisions decisions;
  private final EventRecorder events;

  WaitReasons(
      JobAdmission admission, QueueRules queues, Decisions decisions, EventRecorder events) {
    this.admission = admission;
    this.queues = queues;
    this.decisions = decisions;
    this.events = events;
  }

  /** The phase of a job that waits, with the reason for which it does. */
  JobPhase of(TrainingJob job, JobPhase phase) {
    if (job.getSpec().suspended()) {
      return phase;
    }
    Optional<Hold> hold = admission.hold(job).or(() -> admission.waitsForQuota(job));
    if (hold.isPresent()) {
      if (namesNoProfile(hold.get().reason())) {
        events.warning(job, hold.get().reason().name(), hold.get().message());
      }
      return new JobPhase(Phase.Queued, hold.get().reason().name(), hold.get().message());
    }
    Optional<Reason> refusal = queues.refusal(job);
    refusal.ifPresent(reason -> events.warning(job, reason.code(), reason.message()));
    return refusal
        .or(() ->
            decisions
                .of(Labels.id(job))
                .filter(decision -> decision.replicas() == 0)
                .map(Decisions.Decision::reason))
        .map(reason -> new JobPhase(Phase.Queued, reason.code(), reason.message()))
        .orElse(phase);
  }

  /** Notes that the job trains with all the replicas that it was to have. */
  void trains(TrainingJob job, int replicas) {
    admission.trains(job, replicas);
  }

  /** What a person should know of a job that has fewer pods than it could have. */
  Optional<String> refusal(TrainingJob job) {
    return admission.refusal(job);
  }

  /** What only a person can mend; names that are taken have an event of their own. */
  private static boolean namesNoProfile(JobReason reason) {
    return reason == JobReason.ProfileNotFound || reason == JobReason.ProfileNotAllowed;
  }
}
