package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.hang.HangWatch;
import dev.kastor.operator.kube.JobServers;
import dev.kastor.operator.kube.StatusWriter;
import dev.kastor.operator.lifecycle.KueueHold;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.GangPlan;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.queue.QueueRules;
import dev.kastor.operator.status.JobConditions;
import dev.kastor.operator.status.JobPhase;
import dev.kastor.operator.status.JobStatusWriter;
import dev.kastor.operator.telemetry.TelemetryStore;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Report of an unfinished job in its status: phase, reason and conditions. */
@Singleton
final class JobReport {
  /** What kube-scheduler may take for a pod while all is well. */
  private static final Duration SCHEDULING = Duration.ofSeconds(30);

  private final MembershipService membership;
  private final JobPods pods;
  private final AllocationWriter allocations;
  private final JobStatusWriter statuses;
  private final HangWatch hangs;
  private final QueueRules queues;
  private final TelemetryStore telemetry;
  private final WaitReasons reasons;
  private final StatusWriter writer;
  private final InstantSource clock;

  JobReport(
      MembershipService membership,
      JobPods pods,
      AllocationWriter allocations,
      JobStatusWriter statuses,
      HangWatch hangs,
      QueueRules queues,
      TelemetryStore telemetry,
      WaitReasons reasons,
      StatusWriter writer,
      InstantSource clock) {
    this.membership = membership;
    this.pods = pods;
    this.allocations = allocations;
    this.statuses = statuses;
    this.hangs = hangs;
    this.queues = queues;
    this.telemetry = telemetry;
    this.reasons = reasons;
    this.writer = writer;
    this.clock = clock;
  }

  /** Writes the phase and the conditions that follow from what there is now. */
  void write(TrainingJob job, Failures failures) {
    MembershipService.View view = membership.view(job);
    List<PodView> views = pods.of(job);
    int occupied = (int) views.stream().filter(pod -> !pod.ended()).count();
    int serving = (int) pods.servers(job).stream().filter(server -> !server.view().ended()).count();
    int members =
        job.getSpec().gang()
            ? GangPlan.training(pods.gang(job))
            : (int)
                views.stream()
                    .filter(PodView::live)
                    .filter(pod -> view.members().contains(pod.name()))
                    .count();
    AllocationStatus allocation = allocations.current(job);
    int target = allocation == null ? 0 : allocation.replicas();
    if (members > 0 && members == target) {
      reasons.trains(job, members);
    }
    boolean training = view.recovering() && occupied > 0 && statuses.phase(job) == Phase.Running;
    JobPhase derived =
        JobPhase.derive(
            job.getSpec().suspended(), allocation, members, occupied + serving, training);
    JobPhase phase =
        KueueHold.queue(job)
            .map(derived::heldForKueue)
            .orElseGet(() ->
                derived.phase() == Phase.Queued && target == 0
                    ? reasons.of(job, derived)
                    : derived);
    statuses.write(
        job,
        new JobConditions.Facts(
            phase.phase(),
            phase.reason(),
            phase.message(),
            target,
            training ? target : members,
            Math.max(0, occupied - target),
            hangs.hanging(job).or(() -> unserved(job)).orElse(null),
            queues.directory().priorityLimit(job).orElse(null),
            telemetry.parted(job).orElse(null),
            telemetry.unsaved(job).orElse(null),
            reasons.refusal(job).orElse(null)),
        failures.count());
  }

  /** What a person should know of a job that waits for a server which no node takes. */
  private Optional<String> unserved(TrainingJob job) {
    if (JobServers.count(job) == 0) {
      return Optional.empty();
    }
    return pods.unscheduledServers(job, clock.instant().minus(SCHEDULING)).entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(server ->
            "The job waits for its parameter server, for which kube-scheduler finds no node: "
                + server.getValue())
        .findFirst();
  }

  /** Writes what other parts left to be written with the next report. */
  void flush(TrainingJob job) {
    writer.flush(job);
  }
}
