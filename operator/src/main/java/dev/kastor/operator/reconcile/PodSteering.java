package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.Gates;
import dev.kastor.operator.pods.InvalidTemplate;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.PodPlan;
import dev.kastor.operator.pods.PodView;
import dev.kastor.scheduler.model.Allocation;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Steps that make and remove the pods of a job so that they come to match its allocation. */
@Singleton
public final class PodSteering {
  /** All else is signalled; silence alone is not. */
  private static final Duration LATER = Duration.ofSeconds(30);

  private static final Duration SOON = Duration.ofSeconds(1);

  private final JobPods pods;
  private final Gates gates;
  private final PodCreation creation;
  private final PodDepartures departures;
  private final SilentReplicas silent;
  private final FailureNotices notices;
  private final DeviceMemory memory;
  private final InstantSource clock;

  PodSteering(
      JobPods pods,
      Gates gates,
      PodCreation creation,
      PodDepartures departures,
      SilentReplicas silent,
      FailureNotices notices,
      DeviceMemory memory,
      InstantSource clock) {
    this.pods = pods;
    this.gates = gates;
    this.creation = creation;
    this.departures = departures;
    this.silent = silent;
    this.notices = notices;
    this.memory = memory;
    this.clock = clock;
  }

  /**
   * One step towards the target; says when the next is due unless something happens before.
   *
   * @param view who trains and who was told to go, no newer than the target
   * @param target the replicas that it is to have
   * @param atMost how many it may have at any moment; null without a limit
   * @throws InvalidTemplate if no pods can be made of the job's template
   */
  public Duration steer(
      TrainingJob job,
      List<PodView> views,
      Failures failures,
      @Nullable FaultToleranceSpec tolerance,
      MembershipService.View view,
      Allocation target,
      @Nullable Integer atMost)
      throws InvalidTemplate {
    Instant now = clock.instant();
    notices.tell(job, failures);
    failures.forgiven().forEach(pod -> departures.remove(job, pod));
    views.stream()
        .filter(pod -> pod.ended() && !pod.failed() && !pod.deleting())
        .forEach(pod -> departures.remove(job, pod));
    PodPlan plan = PodPlan.of(target, views, view.members(), view.dismissed());
    boolean waiting = false;
    for (PodView pod : plan.surplus()) {
      waiting |= !departures.dismiss(job, pod, now);
    }
    if (!view.recovering()) {
      plan.wanted().forEach(pod -> silent.replaceIfSilent(job, pod, now));
    }
    if (plan.missing().isEmpty()) {
      Set<String> gated = pods.gated(job);
      List<PodView> closed =
          plan.wanted().stream().filter(pod -> gated.contains(pod.name())).toList();
      return waiting || !gates.open(job, closed) ? SOON : LATER;
    }
    Instant attempt = tolerance == null ? Instant.MIN : failures.nextAttempt(tolerance);
    if (now.isBefore(attempt)) {
      return Duration.between(now, attempt).plusMillis(10);
    }
    return creation.fill(memory.fitting(job), views, plan, atMost) ? LATER : SOON;
  }
}
