package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.lifecycle.JobAdmission;
import dev.kastor.operator.lifecycle.JobLife;
import dev.kastor.operator.lifecycle.KueueHold;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.GangPod;
import dev.kastor.operator.pods.InvalidTemplate;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ServerPod;
import dev.kastor.operator.status.JobReason;
import dev.kastor.scheduler.model.Reason;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;

/** Passes over unfinished jobs: observe, decide, act. */
@Singleton
final class UnfinishedJobs {
  private final JobPods pods;
  private final JobObservation observation;
  private final EndedJobs ended;
  private final JobSteering steering;
  private final JobReport report;
  private final KueueHold kueue;
  private final JobLife life;
  private final JobAdmission admission;
  private final AllocationWriter allocations;
  private final NextPass nextPass;

  UnfinishedJobs(
      JobPods pods,
      JobObservation observation,
      EndedJobs ended,
      JobSteering steering,
      JobReport report,
      KueueHold kueue,
      JobLife life,
      JobAdmission admission,
      AllocationWriter allocations,
      NextPass nextPass) {
    this.pods = pods;
    this.observation = observation;
    this.ended = ended;
    this.steering = steering;
    this.report = report;
    this.kueue = kueue;
    this.life = life;
    this.admission = admission;
    this.allocations = allocations;
    this.nextPass = nextPass;
  }

  /** One pass; says when the next is due unless something is signalled before. */
  Duration step(TrainingJob job, List<PodView> views) {
    List<GangPod> gang = job.getSpec().gang() ? pods.gang(job) : List.of();
    List<ServerPod> servers = pods.servers(job);
    ObservedJob observed = observation.of(job, views, servers, gang);
    return switch (JobAction.of(observed)) {
      case JobAction.End end -> ended.end(job, end);
      case JobAction.Steer steer -> steer(job, views, servers, gang, observed, steer);
    };
  }

  private Duration steer(
      TrainingJob job,
      List<PodView> views,
      List<ServerPod> servers,
      List<GangPod> gang,
      ObservedJob observed,
      JobAction.Steer steer) {
    Failures failures = observed.failures();
    if (steer.holdForKueue()) {
      kueue.hold(job);
    }
    steer.late().ifPresent(late -> life.giveUp(job, late));
    if (steer.suspend()) {
      allocations.releaseByPhase(job, Reason.of("Suspended", "The user suspended the job."));
    }
    if (steer.report()) {
      report.write(job, failures);
    }
    Duration next;
    try {
      next = steering.steer(job, views, servers, gang, failures, observed.tolerance());
    } catch (InvalidTemplate e) {
      return ended.end(
          job,
          new JobAction.End(
              Phase.Failed, JobReason.InvalidTemplate, String.valueOf(e.getMessage()), 0));
    }
    if (views.isEmpty() && pods.of(job).isEmpty()) {
      // Slots are no use to a job that can have no pods.
      admission
          .hold(job)
          .filter(hold -> hold.reason() != JobReason.NotChecked)
          .ifPresent(
              hold -> allocations.release(job, Reason.of(hold.reason().name(), hold.message())));
    }
    report.write(job, failures);
    report.flush(job);
    return nextPass.after(job, failures, next);
  }
}
