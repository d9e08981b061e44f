package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.PodNumbers;
import dev.kastor.operator.kube.SlotWaiters;
import dev.kastor.operator.leader.Awake;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.metrics.FailureKind;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.nodes.NodeUses;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.Gates;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.NamedObjects;
import dev.kastor.operator.pods.Patience;
import dev.kastor.operator.pods.PodNode;
import dev.kastor.operator.pods.PodPlan;
import dev.kastor.operator.pods.PodTemplate;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ProfileStore;
import dev.kastor.operator.pods.SlotClaims;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.operator.status.JobReason;
import dev.kastor.scheduler.model.Allocation;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes and removes the pods of a job so that they come to match its allocation. */
@Singleton
public final class PodSteering {
  private static final Logger LOG = LoggerFactory.getLogger(PodSteering.class);

  /** All else is signalled; silence alone is not. */
  private static final Duration LATER = Duration.ofSeconds(30);

  private static final Duration SOON = Duration.ofSeconds(1);

  private final ClusterCache cache;
  private final JobPods pods;
  private final SlotWaiters waiters;
  private final NamedObjects named;
  private final MembershipService membership;
  private final PodNumbers numbers;
  private final Gates gates;
  private final ProfileStore profiles;
  private final EventRecorder events;
  private final Metrics metrics;
  private final OperatorConfig.Agent config;
  private final PodTemplate template;
  private final InstantSource clock;
  private final NodeUses uses;
  private final Mandate mandate;
  private final Awake awake;
  private final Map<String, Map<String, Instant>> surplusSince;
  private final Map<String, Set<String>> failuresSeen;

  public PodSteering(
      JobRecords records,
      ClusterCache cache,
      JobPods pods,
      SlotWaiters waiters,
      NamedObjects named,
      MembershipService membership,
      PodNumbers numbers,
      Gates gates,
      ProfileStore profiles,
      EventRecorder events,
      Metrics metrics,
      NodeUses uses,
      OperatorConfig config,
      Mandate mandate,
      Awake awake,
      InstantSource clock) {
    surplusSince = records.part();
    failuresSeen = records.part();
    this.cache = cache;
    this.pods = pods;
    this.waiters = waiters;
    this.named = named;
    this.membership = membership;
    this.numbers = numbers;
    this.gates = gates;
    this.profiles = profiles;
    this.events = events;
    this.metrics = metrics;
    this.config = config.agent();
    template = new PodTemplate(config);
    this.uses = uses;
    this.mandate = mandate;
    this.awake = awake;
    this.clock = clock;
  }

  /**
   * One step towards the target; says when the next is due unless something happens before.
   *
   * @param view who trains and who was told to go, no newer than the target
   * @param target the replicas that it is to have
   * @param atMost how many it may have at any moment; null without a limit
   */
  public Duration steer(
      TrainingJob job,
      List<PodView> views,
      Failures failures,
      @Nullable FaultToleranceSpec tolerance,
      MembershipService.View view,
      Allocation target,
      @Nullable Integer atMost) {
    Instant now = clock.instant();
    announce(job, failures);
    failures.forgiven().forEach(pod -> remove(job, pod));
    views.stream()
        .filter(pod -> pod.state() == PodView.State.SUCCEEDED && !pod.deleting())
        .forEach(pod -> remove(job, pod));
    PodPlan plan = PodPlan.of(target, views, view.members(), view.dismissed());
    boolean waiting = false;
    for (PodView pod : plan.surplus()) {
      waiting |= !dismiss(job, pod, now);
    }
    if (!view.recovering()) {
      plan.wanted().forEach(pod -> replaceIfSilent(job, pod, now));
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
    return fill(job, views, plan, atMost) ? LATER : SOON;
  }

  /**
   * Removes what a finished job still has running.
   *
   * @param patient whether replicas may end by themselves first
   * @return whether nothing runs any more
   */
  public boolean clear(TrainingJob job, List<PodView> views, boolean patient) {
    Instant now = clock.instant();
    boolean clear = true;
    for (PodView pod : views) {
      if (pod.live()) {
        clear = false;
        if (patient) {
          dismiss(job, pod, now);
        } else {
          remove(job, pod);
        }
      }
    }
    return clear;
  }

  /** Makes missing pods where slots are free; true if all could be made. */
  private boolean fill(
      TrainingJob job, List<PodView> views, PodPlan plan, @Nullable Integer atMost) {
    int held = (int) views.stream().filter(pod -> !pod.ended() && !lost(pod)).count();
    Map<String, Integer> allowed =
        atMost == null ? plan.missing() : PodPlan.first(atMost - held, plan.missing());
    // Before the look, so that a slot that gets free meanwhile is heard of.
    waiters.wait(Labels.id(job), plan.missing().keySet());
    try (SlotClaims.Claim claim = pods.claim(job, allowed, uses::open)) {
      Set<String> gated = pods.gated(job);
      List<PodView> live = views.stream().filter(PodView::live).toList();
      boolean whole = claim.whole() && allowed.equals(plan.missing());
      // A gang takes its slots together: half of one would hold slots and do nothing.
      if (claim.total() == 0 || (live.isEmpty() && !whole)) {
        return false;
      }
      Optional<ProfileStore.Applied> profile = profiles.of(job);
      if (profile.isEmpty()) {
        events.warning(
            job,
            JobReason.ProfileNotFound.name(),
            "No more pods can be made: there is no ClusterTrainingProfile %s any more."
                .formatted(job.getSpec().profile()));
        return false;
      }
      if (!named.ensure(job)) {
        return false;
      }
      // Who joins a job that runs waits for nobody, and one alone has nobody to wait for.
      boolean gang =
          live.size() + claim.total() > 1
              && live.stream().allMatch(pod -> gated.contains(pod.name()));
      long number = numbers.reserve(job, PodView.free(views), claim.total());
      for (var entry : claim.slots().entrySet()) {
        Optional<PodNode> node = cache.node(entry.getKey()).map(PodNode::of);
        for (int i = 0; i < entry.getValue() && node.isPresent(); i++) {
          Pod pod = template.pod(job, profile.get().spec(), number++, node.get());
          if (gang) {
            Gates.close(pod);
          }
          pods.create(pod);
        }
      }
      if (whole) {
        waiters.done(Labels.id(job), plan.missing().keySet());
      }
      return whole;
    }
  }

  /** Gives a pod that is not wanted time to leave; true once it was removed. */
  private boolean dismiss(TrainingJob job, PodView pod, Instant now) {
    Instant since = surplus(job).computeIfAbsent(pod.name(), name -> now);
    boolean neverRan = pod.state() == PodView.State.PENDING;
    if (neverRan || lost(pod) || !now.isBefore(since.plus(config.leaveGrace()))) {
      remove(job, pod);
      return true;
    }
    return false;
  }

  private boolean lost(PodView pod) {
    return cache.node(pod.node()).filter(uses::lost).isPresent();
  }

  private void replaceIfSilent(TrainingJob job, PodView pod, Instant now) {
    if (pod.state() != PodView.State.RUNNING) {
      return;
    }
    new Patience(config.silence())
        .exceeded(
            membership.lastSeen(job, pod.name()),
            pod.created(),
            mandate.since(),
            awake.since(),
            now)
        .ifPresent(silent -> {
          String message =
              "%s has been silent for %d s and is replaced"
                  .formatted(pod.name(), silent.toSeconds());
          events.warning(job, "ReplicaSilent", message);
          LOG.warn("{}: {}", Labels.id(job), message);
          remove(job, pod);
        });
  }

  void announce(TrainingJob job, Failures failures) {
    for (PodView pod : failures.counted()) {
      Set<String> seen =
          failuresSeen.computeIfAbsent(
              job.getMetadata().getUid(), uid -> ConcurrentHashMap.newKeySet());
      if (seen.add(pod.name())) {
        String message = "%s failed: %s".formatted(pod.name(), pod.failureMessage());
        events.warning(job, "ReplicaFailed", message);
        LOG.warn("{}: {}", Labels.id(job), message);
        metrics.failed(
            job.getMetadata().getNamespace(),
            job.getMetadata().getName(),
            FailureKind.of(pod.failedPermanently(), pod.exitCode()));
      }
    }
  }

  private void remove(TrainingJob job, PodView pod) {
    surplus(job).remove(pod.name());
    pods.delete(job, pod);
  }

  /** Since when pods of the job have not been wanted, by name. */
  private Map<String, Instant> surplus(TrainingJob job) {
    return surplusSince.computeIfAbsent(
        job.getMetadata().getUid(), uid -> new ConcurrentHashMap<>());
  }
}
