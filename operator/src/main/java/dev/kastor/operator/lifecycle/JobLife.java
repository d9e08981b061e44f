package dev.kastor.operator.lifecycle;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.crds.trainingjob.LifecycleSpec;
import dev.kastor.crds.trainingjob.SpecDefaults;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.leader.Awake;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.PodCheck;
import dev.kastor.operator.pods.StuckPods;
import dev.kastor.operator.status.JobReason;
import dev.kastor.operator.status.JobStatusWriter;
import dev.kastor.operator.status.LifeTimes;
import dev.kastor.scheduler.model.Reason;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Deadlines of unfinished jobs, and starts of them that are given up. */
@Singleton
public final class JobLife {
  private static final Duration STUCK_LOOKS = StuckPods.PATIENCE.dividedBy(4);

  private final AllocationWriter allocations;
  private final JobStatusWriter statuses;
  private final JobPods pods;
  private final PodCheck check;
  private final StuckPods stuck;
  private final Awake awake;
  private final InstantSource clock;

  public JobLife(
      AllocationWriter allocations,
      JobStatusWriter statuses,
      JobPods pods,
      PodCheck check,
      StuckPods stuck,
      Awake awake,
      InstantSource clock) {
    this.allocations = allocations;
    this.statuses = statuses;
    this.pods = pods;
    this.check = check;
    this.stuck = stuck;
    this.awake = awake;
    this.clock = clock;
  }

  /** Where the job stands with its deadlines; a suspended one is in time. */
  public Deadlines.Verdict verdict(TrainingJob job) {
    return switch (check(job)) {
      case Deadlines.Verdict.InTime inTime -> stuck(job).orElse(inTime);
      case Deadlines.Verdict.Failed failed ->
          new Deadlines.Verdict.Failed(failed.reason(), withTroubles(job, failed.message()));
      case Deadlines.Verdict.StartAgain again ->
          new Deadlines.Verdict.StartAgain(
              again.failedStarts(), again.reason(), withTroubles(job, again.message()));
    };
  }

  /** The verdict on a job that starts and has pods that never will; empty if it has none. */
  private Optional<Deadlines.Verdict> stuck(TrainingJob job) {
    LifeTimes times = statuses.times(job);
    if (times.starting().isEmpty() || job.getSpec().suspended()) {
      return Optional.empty();
    }
    LifecycleSpec limits = Objects.requireNonNull(SpecDefaults.complete(job.getSpec()).lifecycle());
    return stuck.of(job).values().stream()
        .sorted()
        .findFirst()
        .map(words -> Deadlines.stuck(limits, times, words));
  }

  /** Gives up a start that takes too long, until its backoff is over. */
  public void giveUp(TrainingJob job, Deadlines.Verdict.StartAgain late) {
    FaultToleranceSpec tolerance =
        Objects.requireNonNull(SpecDefaults.complete(job.getSpec()).faultTolerance());
    giveUp(
        job,
        late.failedStarts(),
        late.reason(),
        late.message(),
        Failures.backoff(tolerance, late.failedStarts()));
  }

  /** Gives up a start that could not be made, until its backoff is over. */
  public void giveUp(TrainingJob job, JobReason reason, String message) {
    int failedStarts = statuses.times(job).failedStarts() + 1;
    FaultToleranceSpec tolerance =
        Objects.requireNonNull(SpecDefaults.complete(job.getSpec()).faultTolerance());
    giveUp(job, failedStarts, reason, message, Failures.backoff(tolerance, failedStarts));
  }

  /** Takes the slots away for a while: others may start where this job cannot. */
  public void giveUp(
      TrainingJob job, int failedStarts, JobReason reason, String message, Duration wait) {
    // The wait comes first: a round in between would give the job slots again.
    statuses.holdBack(job, failedStarts, clock.instant().plus(wait));
    allocations.release(job, Reason.of(reason.name(), message));
  }

  /** Whether a wait of the job for slots that was imposed ended within that time. */
  public boolean waitEndedWithin(TrainingJob job, Duration time) {
    Instant now = clock.instant();
    return statuses
        .notBefore(job)
        .filter(end -> !now.isBefore(end) && now.isBefore(end.plus(time)))
        .isPresent();
  }

  /** The time until the next deadline or until the job may have slots again, at most this long. */
  public Duration next(TrainingJob job, Duration most) {
    Instant now = clock.instant();
    Instant due = statuses.notBefore(job).filter(now::isBefore).orElse(Instant.MAX);
    if (check(job) instanceof Deadlines.Verdict.InTime inTime && inTime.until().isBefore(due)) {
      due = inTime.until();
    }
    if (statuses.times(job).starting().isPresent()) {
      // Whether pods are stuck is seen by looking at them for long enough.
      due = due.isBefore(now.plus(STUCK_LOOKS)) ? due : now.plus(STUCK_LOOKS);
    }
    return due.isBefore(now.plus(most)) ? Duration.between(now, due).plusMillis(10) : most;
  }

  private Deadlines.Verdict check(TrainingJob job) {
    if (job.getSpec().suspended()) {
      return new Deadlines.Verdict.InTime(Instant.MAX);
    }
    LifecycleSpec limits = Objects.requireNonNull(SpecDefaults.complete(job.getSpec()).lifecycle());
    return Deadlines.check(
        limits,
        statuses.times(job).since(awake.since()).refused(check.refusedFor(job)),
        clock.instant());
  }

  private String withTroubles(TrainingJob job, String message) {
    List<String> troubles = new ArrayList<>(pods.troubles(job));
    check.refusal(job).ifPresent(troubles::add);
    return troubles.isEmpty() ? message : message + " " + String.join("; ", troubles);
  }
}
