package dev.kastor.operator.job;

import dev.kastor.crds.FaultToleranceSpec;
import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobStatus;
import dev.kastor.operator.Metrics;
import dev.kastor.operator.OperatorConfig;
import dev.kastor.operator.cluster.ClusterCache;
import dev.kastor.operator.cluster.EventRecorder;
import dev.kastor.operator.cluster.Labels;
import dev.kastor.operator.cluster.NodeUses;
import dev.kastor.operator.cluster.SlotWaiters;
import dev.kastor.operator.cluster.StatusWriter;
import dev.kastor.operator.leader.Mandate;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.scheduler.Allocation;
import io.fabric8.kubernetes.api.model.Node;
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
  private final JobObjects objects;
  private final MembershipService membership;
  private final StatusWriter writer;
  private final EventRecorder events;
  private final Metrics metrics;
  private final OperatorConfig.Agent config;
  private final PodTemplate template;
  private final InstantSource clock;
  private final NodeUses uses;
  private final Mandate mandate;
  private final Map<String, Long> nextNumbers = new ConcurrentHashMap<>();
  private final Map<String, Instant> surplusSince = new ConcurrentHashMap<>();
  private final Set<String> failuresSeen = ConcurrentHashMap.newKeySet();

  public PodSteering(
      ClusterCache cache,
      JobPods pods,
      SlotWaiters waiters,
      JobObjects objects,
      MembershipService membership,
      StatusWriter writer,
      EventRecorder events,
      Metrics metrics,
      NodeUses uses,
      OperatorConfig config,
      Mandate mandate,
      InstantSource clock) {
    this.cache = cache;
    this.pods = pods;
    this.waiters = waiters;
    this.objects = objects;
    this.membership = membership;
    this.writer = writer;
    this.events = events;
    this.metrics = metrics;
    this.config = config.agent();
    template = new PodTemplate(config);
    this.uses = uses;
    this.mandate = mandate;
    this.clock = clock;
  }

  /**
   * One step towards the target; says when the next is due unless something happens before.
   *
   * @param view who trains and who was told to go, no newer than the target
   */
  public Duration steer(
      TrainingJob job,
      List<PodView> views,
      Failures failures,
      @Nullable FaultToleranceSpec tolerance,
      MembershipService.View view,
      Allocation target) {
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
      return waiting ? SOON : LATER;
    }
    Instant attempt = tolerance == null ? Instant.MIN : failures.nextAttempt(tolerance);
    if (now.isBefore(attempt)) {
      return Duration.between(now, attempt).plusMillis(10);
    }
    return fill(job, views, plan) ? LATER : SOON;
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

  /** Forgets a job that is gone. */
  public void forget(TrainingJob job) {
    nextNumbers.remove(job.getMetadata().getUid());
    String prefix = job.getMetadata().getUid() + "/";
    surplusSince.keySet().removeIf(key -> key.startsWith(prefix));
    failuresSeen.removeIf(key -> key.startsWith(prefix));
  }

  /** Makes missing pods where slots are free; true if all could be made. */
  private boolean fill(TrainingJob job, List<PodView> views, PodPlan plan) {
    // Before the look, so that a slot that gets free meanwhile is heard of.
    waiters.wait(Labels.id(job), plan.missing().keySet());
    Map<String, Integer> possible = new java.util.TreeMap<>();
    int total = 0;
    for (var entry : plan.missing().entrySet()) {
      Optional<Node> node = cache.node(entry.getKey()).filter(uses::open);
      int free = node.map(pods::freeSlots).orElse(0);
      int count = Math.min(free, entry.getValue());
      possible.put(entry.getKey(), count);
      total += count;
    }
    boolean nothingRuns = views.stream().noneMatch(PodView::live);
    boolean all = total == plan.missingCount();
    // A gang takes its slots together: half of one would hold slots and do nothing.
    if (total == 0 || (nothingRuns && !all)) {
      return false;
    }
    objects.ensure(job);
    long number = reserve(job, views, total);
    for (var entry : possible.entrySet()) {
      String hostname = cache.node(entry.getKey()).map(PodSteering::hostname).orElse("");
      for (int i = 0; i < entry.getValue(); i++) {
        pods.create(template.pod(job, number++, entry.getKey(), hostname));
      }
    }
    if (all) {
      waiters.done(Labels.id(job), plan.missing().keySet());
    }
    return all;
  }

  /**
   * Takes pod numbers and stores how far they are taken before any pod has one. A job's first pods
   * are an exception, for there are no names yet that could be used twice: they say themselves
   * which numbers are taken until the next patch does.
   */
  private long reserve(TrainingJob job, List<PodView> views, int count) {
    String uid = job.getMetadata().getUid();
    TrainingJobStatus status = job.getStatus();
    Long stored = status == null ? null : status.nextPod();
    long first = Math.max(stored == null ? 0 : stored, nextNumbers.getOrDefault(uid, 0L));
    for (PodView pod : views) {
      first = Math.max(first, pod.number() + 1);
    }
    if (stored == null && first == 0) {
      writer.postpone(job, Map.of("nextPod", (long) count));
    } else if (!writer.patch(job, Map.of("nextPod", first + count))) {
      throw new IllegalStateException("job %s is gone".formatted(Labels.id(job)));
    }
    nextNumbers.put(uid, first + count);
    return first;
  }

  /** Gives a pod that is not wanted time to leave; true once it was removed. */
  private boolean dismiss(TrainingJob job, PodView pod, Instant now) {
    Instant since = surplusSince.computeIfAbsent(key(job, pod), key -> now);
    boolean neverRan = pod.state() == PodView.State.PENDING;
    if (neverRan || !now.isBefore(since.plus(config.leaveGrace()))) {
      remove(job, pod);
      return true;
    }
    return false;
  }

  private void replaceIfSilent(TrainingJob job, PodView pod, Instant now) {
    if (pod.state() != PodView.State.RUNNING) {
      return;
    }
    Instant heard = membership.lastSeen(job, pod.name()).orElse(pod.created());
    Instant started = mandate.since();
    Instant since = heard.isBefore(started) ? started : heard;
    if (now.isAfter(since.plus(config.silence()))) {
      String message =
          "%s has been silent for %d s and is replaced"
              .formatted(pod.name(), Duration.between(since, now).toSeconds());
      events.warning(job, "ReplicaSilent", message);
      LOG.warn("{}: {}", Labels.id(job), message);
      remove(job, pod);
    }
  }

  private void announce(TrainingJob job, Failures failures) {
    for (PodView pod : failures.counted()) {
      if (failuresSeen.add(key(job, pod))) {
        String message = "%s failed: %s".formatted(pod.name(), pod.failureMessage());
        events.warning(job, "ReplicaFailed", message);
        LOG.warn("{}: {}", Labels.id(job), message);
        metrics.failed(
            job.getMetadata().getNamespace(), job.getMetadata().getName(), FailureKind.of(pod));
      }
    }
  }

  private void remove(TrainingJob job, PodView pod) {
    surplusSince.remove(key(job, pod));
    pods.delete(job, pod);
  }

  private static String key(TrainingJob job, PodView pod) {
    return job.getMetadata().getUid() + "/" + pod.name();
  }

  private static String hostname(Node node) {
    Map<String, String> labels = node.getMetadata().getLabels();
    String label = labels == null ? null : labels.get("kubernetes.io/hostname");
    return label == null ? node.getMetadata().getName() : label;
  }
}
