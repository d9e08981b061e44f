package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.crds.trainingjob.SpecDefaults;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.gang.GangSteering;
import dev.kastor.operator.hang.HangWatch;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.Newcomers;
import dev.kastor.operator.kube.StatusWriter;
import dev.kastor.operator.lifecycle.Deadlines;
import dev.kastor.operator.lifecycle.JobAdmission;
import dev.kastor.operator.lifecycle.JobLife;
import dev.kastor.operator.lifecycle.KueueHold;
import dev.kastor.operator.lifecycle.TimeToLive;
import dev.kastor.operator.lifecycle.Unbound;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.GangPlan;
import dev.kastor.operator.pods.GangPod;
import dev.kastor.operator.pods.InvalidTemplate;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.PodCheck;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.queue.QueueRules;
import dev.kastor.operator.scheduling.Decisions;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.operator.signal.Signals;
import dev.kastor.operator.status.Hold;
import dev.kastor.operator.status.JobConditions;
import dev.kastor.operator.status.JobPhase;
import dev.kastor.operator.status.JobReason;
import dev.kastor.operator.status.JobStatusWriter;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.protocol.Outcome;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Reason;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a TrainingJob's pods and status in line with its spec and allocation, whatever happened
 * before: each pass looks at all there is.
 */
@Singleton
@ControllerConfiguration(name = "trainingjob")
// For ever: a job that was looked at five times during an outage must not be forgotten after it.
@GradualRetry(
    maxAttempts = -1,
    initialInterval = 1000,
    intervalMultiplier = 1.5,
    maxInterval = 15000)
public final class TrainingJobReconciler implements Reconciler<TrainingJob> {
  private static final Logger LOG = LoggerFactory.getLogger(TrainingJobReconciler.class);

  /** Whatever changes is signalled; this only mends what a signal might have missed. */
  private static final Duration RESYNC = Duration.ofMinutes(5);

  private static final Duration AFTER_FAILURE = Duration.ofSeconds(10);

  private static final int STEP_BACK_MILLIS = 4000;
  private static final Duration SOON = Duration.ofSeconds(5);

  private final ClusterCache cache;
  private final AllocationWriter allocations;
  private final MembershipService membership;
  private final HangWatch hangs;
  private final TelemetryStore telemetry;
  private final JobPods pods;
  private final PodSteering steering;
  private final JobStatusWriter statuses;
  private final QueueRules queues;
  private final Decisions decisions;
  private final EventRecorder events;
  private final GangSteering gangs;
  private final Unbound unbound;
  private final JobAdmission admission;
  private final KueueHold kueue;
  private final JobLife life;
  private final TimeToLive timeToLive;
  private final StatusWriter writer;
  private final Newcomers newcomers;
  private final Mandate mandate;
  private final Signals signals;
  private final Metrics metrics;

  public TrainingJobReconciler(
      ClusterCache cache,
      AllocationWriter allocations,
      MembershipService membership,
      HangWatch hangs,
      TelemetryStore telemetry,
      JobPods pods,
      PodSteering steering,
      JobStatusWriter statuses,
      QueueRules queues,
      Decisions decisions,
      EventRecorder events,
      GangSteering gangs,
      Unbound unbound,
      JobAdmission admission,
      KueueHold kueue,
      JobLife life,
      TimeToLive timeToLive,
      StatusWriter writer,
      Newcomers newcomers,
      Mandate mandate,
      Signals signals,
      Metrics metrics) {
    this.cache = cache;
    this.allocations = allocations;
    this.membership = membership;
    this.hangs = hangs;
    this.telemetry = telemetry;
    this.pods = pods;
    this.steering = steering;
    this.statuses = statuses;
    this.queues = queues;
    this.decisions = decisions;
    this.events = events;
    this.gangs = gangs;
    this.unbound = unbound;
    this.admission = admission;
    this.kueue = kueue;
    this.life = life;
    this.timeToLive = timeToLive;
    this.writer = writer;
    this.newcomers = newcomers;
    this.mandate = mandate;
    this.signals = signals;
    this.metrics = metrics;
  }

  @Override
  public List<EventSource<?, TrainingJob>> prepareEventSources(
      EventSourceContext<TrainingJob> context) {
    var source = new SimpleInboundEventSource<TrainingJob>("signals");
    signals.onJob(id -> source.propagateEvent(new ResourceID(id.name(), id.namespace())));
    return List.of(source);
  }

  @Override
  public UpdateControl<TrainingJob> reconcile(TrainingJob primary, Context<TrainingJob> context) {
    if (!mandate.mayWrite()) {
      // Every write would be refused, and thousands of refusals would hold up the lease's renewal.
      return UpdateControl.<TrainingJob>noUpdate().rescheduleAfter(stepBack(primary));
    }
    try {
      return reconcile(primary);
    } catch (KubernetesClientException e) {
      // The controller gives up after a few times; an API server may be away for longer.
      metrics.reconcileFailed(true);
      Duration again = stepBack(primary);
      LOG.warn(
          "{}: the API server refused or did not answer, looked at again in {} ms: {}",
          Labels.id(primary),
          again.toMillis(),
          e.getMessage());
      return UpdateControl.<TrainingJob>noUpdate().rescheduleAfter(again);
    } finally {
      newcomers.met(primary);
    }
  }

  private UpdateControl<TrainingJob> reconcile(TrainingJob primary) {
    // Pods before the job: whoever stopped because of a change must not be seen without the change.
    List<PodView> views = pods.of(primary);
    TrainingJob job = latest(primary);
    if (!cache.ours(job) || job.getMetadata().getDeletionTimestamp() != null) {
      return UpdateControl.noUpdate();
    }
    Phase phase = statuses.phase(job);
    if (phase == Phase.Succeeded || phase == Phase.Failed) {
      // A round that was under way when the job ended may have given it slots again.
      allocations.release(job, Reason.of("Ended", "The job has ended."));
      if (!steering.clear(job, views, phase == Phase.Succeeded)) {
        return UpdateControl.<TrainingJob>noUpdate().rescheduleAfter(Duration.ofSeconds(2));
      }
      return timeToLive
          .apply(job)
          .map(next -> UpdateControl.<TrainingJob>noUpdate().rescheduleAfter(next))
          .orElseGet(UpdateControl::noUpdate);
    }
    if (phase != null && views.isEmpty() && newcomers.many()) {
      return UpdateControl.<TrainingJob>noUpdate().rescheduleAfter(stepBack(job));
    }
    Duration next = step(job, views);
    return UpdateControl.<TrainingJob>noUpdate().rescheduleAfter(next);
  }

  /** Some seconds, and not the same for all. */
  private static Duration stepBack(TrainingJob job) {
    return Duration.ofMillis(
        1000 + Math.floorMod(job.getMetadata().getUid().hashCode(), STEP_BACK_MILLIS));
  }

  /** Counts what the controller logs and tries again. */
  @Override
  public ErrorStatusUpdateControl<TrainingJob> updateErrorStatus(
      TrainingJob job, Context<TrainingJob> context, Exception e) {
    metrics.reconcileFailed(e instanceof KubernetesClientException);
    return ErrorStatusUpdateControl.defaultErrorProcessing();
  }

  private Duration step(TrainingJob job, List<PodView> views) {
    try {
      JobSpecs.of(job);
    } catch (IllegalArgumentException e) {
      return end(job, Phase.Failed, JobReason.InvalidSpec, String.valueOf(e.getMessage()), 0);
    }
    if (KueueHold.due(job) && views.isEmpty()) {
      kueue.hold(job);
    }
    Optional<String> bad = admit(job);
    if (bad.isPresent()) {
      return end(job, Phase.Failed, JobReason.InvalidTemplate, bad.get(), 0);
    }
    boolean template = job.getSpec().gang();
    List<GangPod> gang = template ? pods.gang(job) : List.of();
    views.stream()
        .filter(pod -> !template && pod.completed())
        .flatMap(pod -> pod.outcome().stream())
        .forEach(outcome -> telemetry.note(job, outcome));
    Failures failures =
        template ? GangPlan.failures(gang) : Failures.of(views, telemetry.lastProgress(job));
    Optional<Outcome> completed = telemetry.completed(job);
    if (completed.isPresent()) {
      return end(
          job, Phase.Succeeded, JobReason.WorkDone, summary(completed.get()), failures.count());
    }
    if (GangPlan.of(target(job, true), gang) instanceof GangPlan.Succeeded) {
      String message = "All %d pods succeeded.".formatted(gang.getFirst().size());
      return end(job, Phase.Succeeded, JobReason.PodsSucceeded, message, failures.count());
    }
    FaultToleranceSpec tolerance =
        Objects.requireNonNull(SpecDefaults.complete(job.getSpec()).faultTolerance());
    if (!template && failures.permanent().isPresent()) {
      String message = failures.permanent().get().failureMessage();
      return end(job, Phase.Failed, JobReason.ProgramFailed, message, failures.count());
    }
    if (failures.exhausted(tolerance)) {
      return end(
          job,
          Phase.Failed,
          JobReason.TooManyFailures,
          "%d replicas failed without progress in between; maxRestarts is %d. The last: %s"
              .formatted(
                  failures.count(),
                  tolerance.maxRestarts(),
                  failures.counted().getLast().failureMessage()),
          failures.count());
    }
    Optional<Deadlines.Verdict.Failed> late = life.enforce(job);
    if (late.isPresent()) {
      return end(job, Phase.Failed, late.get().reason(), late.get().message(), failures.count());
    }
    if (job.getSpec().suspended()) {
      allocations.release(job, Reason.of("Suspended", "The user suspended the job."));
    }
    if (statuses.phase(job) == null) {
      // Making pods takes several requests; a word to its owner comes first.
      report(job, failures);
    }
    Duration next;
    try {
      next =
          template
              ? steerGang(job, gang, failures, tolerance)
              : steerReplicas(job, views, failures, tolerance);
    } catch (InvalidTemplate e) {
      return end(job, Phase.Failed, JobReason.InvalidTemplate, String.valueOf(e.getMessage()), 0);
    } catch (KubernetesClientException e) {
      throw e;
    } catch (RuntimeException e) {
      startFailed(job, views, failures, e);
      next = SOON;
    }
    if (views.isEmpty()) {
      // Slots are no use to a job that can have no pods.
      admission
          .hold(job)
          .filter(hold -> hold.reason() != JobReason.NotChecked)
          .ifPresent(
              hold -> allocations.release(job, Reason.of(hold.reason().name(), hold.message())));
    }
    report(job, failures);
    writer.flush(job);
    if (life.waitEndedWithin(job, SOON)) {
      signals.round();
    }
    Duration most = failures.count() > 0 ? AFTER_FAILURE : admitted(job) ? RESYNC : PodCheck.AGAIN;
    most = unbound.relieve(job, statuses.phase(job) == Phase.Running, most);
    return life.next(job, next.compareTo(most) < 0 ? next : most);
  }

  /**
   * Treats what nobody thought of as a start that failed, so that deadlines and backoff apply and
   * the slots are not held for nothing. A job that has pods keeps them.
   */
  private void startFailed(
      TrainingJob job, List<PodView> views, Failures failures, RuntimeException e) {
    if (!views.isEmpty()) {
      report(job, failures);
      throw e;
    }
    metrics.reconcileFailed(false);
    LOG.error("{}: no pods could be made for it", Labels.id(job), e);
    String message =
        "No pods could be made: %s. The operator's log has the details.".formatted(e.getMessage());
    events.warning(job, JobReason.StartFailed.name(), message);
    life.giveUp(job, JobReason.StartFailed, message);
  }

  /** Has the pods of a job that has nothing yet checked; says why there can be none. */
  private Optional<String> admit(TrainingJob job) {
    if (holds(job)) {
      return Optional.empty();
    }
    boolean held = admission.hold(job).isPresent();
    Optional<String> bad = admission.ask(job);
    if (held && admission.hold(job).isEmpty()) {
      signals.arrived(Labels.id(job));
    }
    return bad;
  }

  private boolean admitted(TrainingJob job) {
    return holds(job) || admission.hold(job).isEmpty();
  }

  private boolean holds(TrainingJob job) {
    return !JobMapper.allocation(allocations.current(job)).isEmpty();
  }

  private Duration steerReplicas(
      TrainingJob job, List<PodView> views, Failures failures, FaultToleranceSpec tolerance) {
    membership.evaluate(job);
    MembershipService.View view = membership.view(job);
    // The target after the view: a pod dismissed because of a change must not be replaced without
    // it.
    TrainingJob newest = latest(job);
    AllocationStatus allocation = allocations.current(newest);
    Integer atMost = allocation == null ? null : allocation.atMost();
    return steering.steer(
        job, views, failures, tolerance, view, target(newest, !views.isEmpty()), atMost);
  }

  private Duration steerGang(
      TrainingJob job, List<GangPod> gang, Failures failures, FaultToleranceSpec tolerance)
      throws InvalidTemplate {
    steering.announce(job, failures);
    return gangs.steer(job, gang, failures, tolerance, target(latest(job), !gang.isEmpty()));
  }

  private void report(TrainingJob job, Failures failures) {
    MembershipService.View view = membership.view(job);
    List<PodView> views = pods.of(job);
    int occupied = (int) views.stream().filter(pod -> !pod.ended()).count();
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
    boolean training = view.recovering() && occupied > 0 && statuses.phase(job) == Phase.Running;
    JobPhase derived =
        JobPhase.derive(job.getSpec().suspended(), allocation, members, occupied, training);
    JobPhase phase =
        KueueHold.queue(job)
            .map(derived::heldForKueue)
            .orElseGet(() ->
                derived.phase() == Phase.Queued && target == 0 ? waits(job, derived) : derived);
    statuses.write(
        job,
        new JobConditions.Facts(
            phase.phase(),
            phase.reason(),
            phase.message(),
            target,
            training ? target : members,
            Math.max(0, occupied - target),
            hangs.hanging(job).orElse(null),
            queues.directory().priorityLimit(job).orElse(null),
            telemetry.parted(job).orElse(null)),
        failures.count());
  }

  /** Why a job waits: its queue refuses it, or what the newest round says. */
  private JobPhase waits(TrainingJob job, JobPhase phase) {
    if (job.getSpec().suspended()) {
      return phase;
    }
    Optional<Hold> hold = admission.hold(job);
    if (hold.isPresent()) {
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

  private Duration end(TrainingJob job, Phase phase, JobReason why, String message, int failures) {
    String reason = why.name();
    telemetry.write(job);
    // The phase comes first: a job without an allocation that has not ended would get a new one.
    statuses.write(job, new JobConditions.Facts(phase, reason, message, 0, 0, 0), failures);
    allocations.release(job, Reason.of(reason, message));
    signals.round();
    return Duration.ofSeconds(1);
  }

  private TrainingJob latest(TrainingJob job) {
    return cache
        .job(Labels.id(job))
        .filter(seen -> seen.getMetadata().getUid().equals(job.getMetadata().getUid()))
        .orElse(job);
  }

  /** What the job is to have; nothing is begun with what no round can have given it. */
  private Allocation target(TrainingJob job, boolean begun) {
    Allocation given =
        job.getSpec().suspended()
            ? Allocation.NONE
            : JobMapper.allocation(allocations.current(job));
    return begun || JobMapper.withinBounds(JobSpecs.of(job), given) ? given : Allocation.NONE;
  }

  private static String summary(Outcome outcome) {
    String metric =
        outcome.metric() == null
            ? ""
            : " %s %.4g.".formatted(outcome.metricName(), outcome.metric());
    return "The declared work is done.%s %d examples lost or repeated."
        .formatted(metric, outcome.lostOrRepeatedExamples());
  }
}
