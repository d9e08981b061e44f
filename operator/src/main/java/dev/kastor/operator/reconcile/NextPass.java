package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.lifecycle.JobAdmission;
import dev.kastor.operator.lifecycle.JobLife;
import dev.kastor.operator.lifecycle.Refusals;
import dev.kastor.operator.lifecycle.Unbound;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.PodCheck;
import dev.kastor.operator.signal.Signals;
import dev.kastor.operator.status.JobStatusWriter;
import jakarta.inject.Singleton;
import java.time.Duration;

/** Time of the next pass over an unfinished job for which nothing is signalled. */
@Singleton
final class NextPass {
  /** Whatever changes is signalled; this only mends what a signal might have missed. */
  private static final Duration RESYNC = Duration.ofMinutes(5);

  private static final Duration AFTER_FAILURE = Duration.ofSeconds(10);

  private final JobStatusWriter statuses;
  private final AllocationWriter allocations;
  private final JobAdmission admission;
  private final JobLife life;
  private final Refusals refusals;
  private final Unbound unbound;
  private final Signals signals;

  NextPass(
      JobStatusWriter statuses,
      AllocationWriter allocations,
      JobAdmission admission,
      JobLife life,
      Refusals refusals,
      Unbound unbound,
      Signals signals) {
    this.statuses = statuses;
    this.allocations = allocations;
    this.admission = admission;
    this.life = life;
    this.refusals = refusals;
    this.unbound = unbound;
    this.signals = signals;
  }

  /**
   * When to look again after a pass; asks for a round if a wait for slots has just ended.
   *
   * @param next when its pods need another step
   */
  Duration after(TrainingJob job, Failures failures, Duration next) {
    if (life.waitEndedWithin(job, JobSteering.SOON)) {
      signals.round();
    }
    Duration most = failures.count() > 0 ? AFTER_FAILURE : admitted(job) ? RESYNC : PodCheck.AGAIN;
    boolean trains = statuses.phase(job) == Phase.Running;
    if (trains && allocations.holds(job)) {
      refusals.settleStuck(job);
    }
    most = unbound.relieve(job, trains, most);
    return life.next(job, next.compareTo(most) < 0 ? next : most);
  }

  private boolean admitted(TrainingJob job) {
    return admission.hold(job).isEmpty() || (allocations.holds(job) && !admission.bounded(job));
  }
}
