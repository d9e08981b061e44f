package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.lifecycle.TimeToLive;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.signal.Signals;
import dev.kastor.operator.status.JobConditions;
import dev.kastor.operator.status.JobStatusWriter;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.scheduler.model.Reason;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Ends of jobs: what is stored about them, and removal of what they leave behind. */
@Singleton
final class EndedJobs {
  private static final Duration SOON = Duration.ofSeconds(2);

  private final TelemetryStore telemetry;
  private final JobStatusWriter statuses;
  private final AllocationWriter allocations;
  private final PodDepartures departures;
  private final TimeToLive timeToLive;
  private final Signals signals;

  EndedJobs(
      TelemetryStore telemetry,
      JobStatusWriter statuses,
      AllocationWriter allocations,
      PodDepartures departures,
      TimeToLive timeToLive,
      Signals signals) {
    this.telemetry = telemetry;
    this.statuses = statuses;
    this.allocations = allocations;
    this.departures = departures;
    this.timeToLive = timeToLive;
    this.signals = signals;
  }

  /** Stores the end of a job; says when to look at it again. */
  Duration end(TrainingJob job, JobAction.End end) {
    String reason = end.reason().name();
    telemetry.write(job);
    // The phase comes first: a job without an allocation that has not ended would get a new one.
    statuses.write(
        job, new JobConditions.Facts(end.phase(), reason, end.message(), 0, 0, 0), end.failures());
    allocations.releaseByPhase(job, Reason.of(reason, end.message()));
    signals.round();
    return Duration.ofSeconds(1);
  }

  /** Removes what an ended job has left; says when to look at it again, empty for never. */
  Optional<Duration> clear(TrainingJob job, List<PodView> views, Phase phase) {
    // A round that was under way when the job ended may have given it slots again.
    allocations.releaseByPhase(job, Reason.of("Ended", "The job has ended."));
    return departures.clear(job, views, phase == Phase.Succeeded)
        ? timeToLive.apply(job)
        : Optional.of(SOON);
  }
}
