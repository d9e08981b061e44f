package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.SpecDefaults;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.kube.JobServers;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.lifecycle.JobAdmission;
import dev.kastor.operator.lifecycle.JobLife;
import dev.kastor.operator.lifecycle.KueueHold;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.GangPlan;
import dev.kastor.operator.pods.GangPod;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ServerPod;
import dev.kastor.operator.signal.Signals;
import dev.kastor.operator.status.JobReason;
import dev.kastor.operator.status.JobStatusWriter;
import dev.kastor.operator.telemetry.TelemetryStore;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** Observation of unfinished jobs: what a pass has to know before it decides. */
@Singleton
final class JobObservation {
  private final TelemetryStore telemetry;
  private final JobStatusWriter statuses;
  private final AllocationWriter allocations;
  private final JobAdmission admission;
  private final JobLife life;
  private final DeviceMemory memory;
  private final Signals signals;

  JobObservation(
      TelemetryStore telemetry,
      JobStatusWriter statuses,
      AllocationWriter allocations,
      JobAdmission admission,
      JobLife life,
      DeviceMemory memory,
      Signals signals) {
    this.telemetry = telemetry;
    this.statuses = statuses;
    this.allocations = allocations;
    this.admission = admission;
    this.life = life;
    this.memory = memory;
    this.signals = signals;
  }

  /**
   * The facts of a job. On the way the API server is asked about its pods if that is due, outcomes
   * that only pods tell are noted, and a job that may have slots now is announced.
   *
   * @param views pods of its replicas
   * @param servers pods of its parameter servers
   * @param gang the same as pods of a gang; empty if it is none
   */
  ObservedJob of(
      TrainingJob job, List<PodView> views, List<ServerPod> servers, List<GangPod> gang) {
    try {
      JobSpecs.of(job);
    } catch (IllegalArgumentException e) {
      return ObservedJob.unusable(JobReason.InvalidSpec, String.valueOf(e.getMessage()));
    }
    Optional<String> bad = admit(job);
    if (bad.isPresent()) {
      return ObservedJob.unusable(JobReason.InvalidTemplate, bad.get());
    }
    boolean template = job.getSpec().gang();
    if (!template) {
      memory.take(job, views);
      reporting(job, views, servers).stream()
          .filter(PodView::completed)
          .flatMap(pod -> pod.outcome().stream())
          .forEach(outcome -> telemetry.note(job, outcome));
    }
    int succeeded =
        GangPlan.of(allocations.target(job, true), gang) instanceof GangPlan.Succeeded(int pods)
            ? pods
            : 0;
    return new ObservedJob(
        Optional.empty(),
        template,
        telemetry.completed(job),
        succeeded,
        template
            ? GangPlan.failures(gang)
            : Failures.of(
                Stream.concat(views.stream(), ServerPod.views(servers).stream()).toList(),
                telemetry.lastProgress(job)),
        Objects.requireNonNull(SpecDefaults.complete(job.getSpec()).faultTolerance()),
        life.verdict(job),
        job.getSpec().suspended(),
        KueueHold.due(job) && views.isEmpty() && servers.isEmpty(),
        statuses.phase(job) != null);
  }

  /** Pods whose last words are the job's: of any replica, or of the first server if it has some. */
  private static List<PodView> reporting(
      TrainingJob job, List<PodView> views, List<ServerPod> servers) {
    return JobServers.count(job) == 0
        ? views
        : servers.stream().filter(server -> server.index() == 0).map(ServerPod::view).toList();
  }

  /**
   * Has the pods of a job checked that has nothing yet, or fewer than it may have; says why there
   * can be none.
   */
  private Optional<String> admit(TrainingJob job) {
    boolean holds = allocations.holds(job);
    if (holds && !admission.bounded(job)) {
      return Optional.empty();
    }
    boolean held = admission.hold(job).isPresent();
    Optional<String> bad = admission.ask(job);
    if (held && admission.hold(job).isEmpty()) {
      if (holds) {
        signals.round();
      } else {
        signals.arrived(Labels.id(job));
      }
    }
    return holds ? Optional.empty() : bad;
  }
}
