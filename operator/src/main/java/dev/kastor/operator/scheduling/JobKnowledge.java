package dev.kastor.operator.scheduling;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.lifecycle.JobAdmission;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.NodeFit;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.operator.status.JobStatusWriter;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.model.AllocationHistory;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/** What the scheduling loop may know of a job beyond its resource. */
@Singleton
public final class JobKnowledge implements KubernetesCluster.Knowledge {
  /** How long a new allocation may take to become a generation before it can change again. */
  private static final Duration TRANSITION = Duration.ofSeconds(45);

  /** How long a restarted operator waits for a job's reports before it decides without them. */
  private static final Duration QUIET = Duration.ofSeconds(60);

  private final TelemetryStore telemetry;
  private final MembershipService membership;
  private final JobStatusWriter statuses;
  private final JobAdmission admission;
  private final JobPods pods;
  private final NodeFit fit;
  private final Mandate mandate;

  public JobKnowledge(
      TelemetryStore telemetry,
      MembershipService membership,
      JobStatusWriter statuses,
      JobAdmission admission,
      JobPods pods,
      NodeFit fit,
      Mandate mandate) {
    this.telemetry = telemetry;
    this.membership = membership;
    this.statuses = statuses;
    this.admission = admission;
    this.pods = pods;
    this.fit = fit;
    this.mandate = mandate;
  }

  @Override
  public Measured measured(TrainingJob job) {
    return telemetry.measured(job);
  }

  @Override
  public boolean training(TrainingJob job, AllocationHistory history) {
    int replicas = history.allocation().replicas();
    return job.getSpec().gang()
        ? members(job, membership.standing(job)) == replicas
        : history.since().filter(since -> telemetry.trained(job, since, replicas)).isPresent();
  }

  @Override
  public boolean ended(TrainingJob job) {
    Phase phase = statuses.phase(job);
    return phase == Phase.Succeeded
        || phase == Phase.Failed
        || telemetry.completed(job).isPresent();
  }

  @Override
  public int most(TrainingJob job, int replicas) {
    return admission.bounded(job) ? replicas : Integer.MAX_VALUE;
  }

  @Override
  public Optional<Set<String>> gpuTypes(TrainingJob job) {
    return fit.types(job);
  }

  @Override
  public boolean held(TrainingJob job, Instant now) {
    return admission.held(job, now);
  }

  /**
   * A job keeps its allocation while it moves to it, and while a restarted operator does not know
   * yet what the job's replicas measured: deciding without would shrink what runs well.
   */
  @Override
  public boolean pinned(TrainingJob job, int replicas, Instant since, Instant now) {
    if (now.isBefore(mandate.since().plus(QUIET)) && telemetry.silentSinceRestart(job)) {
      return true;
    }
    MembershipService.Standing standing = membership.standing(job);
    if (standing.recovering()) {
      return true;
    }
    boolean recent = now.isBefore(since.plus(TRANSITION));
    return recent && replicas != members(job, standing);
  }

  private long members(TrainingJob job, MembershipService.Standing standing) {
    return job.getSpec().gang()
        ? pods.of(job).stream().filter(PodView::live).count()
        : standing.members();
  }
}
