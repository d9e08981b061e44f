package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.family.FamilyStore;
import dev.kastor.operator.hang.HangWatch;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.leader.Awake;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.nodehealth.NodeWatch;
import dev.kastor.operator.pods.Authority;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.NamedObjects;
import dev.kastor.operator.scheduling.AdviceWriter;
import dev.kastor.operator.scheduling.QueueStatusWriter;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.operator.status.JobStatusWriter;
import dev.kastor.operator.telemetry.TelemetryStore;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What has to be done as time passes: generations that wait for a deadline, summaries that are due,
 * what jobs that are gone left behind.
 */
@Singleton
public final class Housekeeping {
  /** A job has to be unknown to the cache at two looks, so apart, before its record ends. */
  private static final Duration SWEEP_INTERVAL = Duration.ofSeconds(10);

  private static final Logger LOG = LoggerFactory.getLogger(Housekeeping.class);

  /** Between two passes; where these are long for many jobs, twice as long as the last one. */
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(500);

  private static final Duration LONGEST_PAUSE = Duration.ofMillis(1500);
  private static final int LOOKS_AT_ONCE = 16;

  /** Many that are due at once must not keep the API server from what cannot wait. */
  private static final int SUMMARIES_AT_ONCE = 2;

  /** Passes between two looks for pods whose job is gone while no job goes. */
  private static final int ORPHANS_EVERY = 20;

  private final JobRecords records;
  private final ClusterCache cache;
  private final MembershipService membership;
  private final TelemetryStore telemetry;
  private final FamilyStore families;
  private final AdviceWriter advice;
  private final QueueStatusWriter queues;
  private final AllocationWriter allocations;
  private final JobStatusWriter jobStatuses;
  private final JobPods pods;
  private final NamedObjects named;
  private final Authority authority;
  private final NodeWatch nodes;
  private final HangWatch hangs;
  private final Metrics metrics;
  private final Mandate mandate;
  private final Awake awake;
  private final InstantSource clock;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("housekeeping").daemon().factory());
  private final ExecutorService summaries =
      Executors.newFixedThreadPool(SUMMARIES_AT_ONCE, Thread.ofVirtual().factory());

  /** Uids of jobs whose summary waits to be written. */
  private final Set<String> summarizing;

  private int passes;
  private Instant sweptAt = Instant.EPOCH;

  public Housekeeping(
      JobRecords records,
      ClusterCache cache,
      MembershipService membership,
      TelemetryStore telemetry,
      FamilyStore families,
      AdviceWriter advice,
      QueueStatusWriter queues,
      AllocationWriter allocations,
      JobStatusWriter jobStatuses,
      JobPods pods,
      NamedObjects named,
      Authority authority,
      NodeWatch nodes,
      HangWatch hangs,
      Metrics metrics,
      Mandate mandate,
      Awake awake,
      InstantSource clock) {
    this.records = records;
    summarizing = records.flags();
    this.cache = cache;
    this.membership = membership;
    this.telemetry = telemetry;
    this.families = families;
    this.advice = advice;
    this.queues = queues;
    this.allocations = allocations;
    this.jobStatuses = jobStatuses;
    this.pods = pods;
    this.named = named;
    this.authority = authority;
    this.nodes = nodes;
    this.hangs = hangs;
    this.metrics = metrics;
    this.mandate = mandate;
    this.awake = awake;
    this.clock = clock;
  }

  /** Starts the timer; call once the cache is filled. */
  public void start() {
    awake.start();
    // From here on deletions are remembered for us.
    cache.takeDeleted().forEach(job -> attempt(job, () -> forget(job)));
    // Before the first round: without it a node that is not ready would be given up at once.
    nodes.lookIfDue();
    passAfter(SHORTEST_PAUSE);
  }

  private void passAfter(Duration pause) {
    var _ = timer.schedule(this::passAndGoOn, pause.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void passAndGoOn() {
    Instant begun = clock.instant();
    try {
      pass();
    } catch (RuntimeException e) {
      LOG.error("housekeeping failed", e);
    }
    if (!timer.isShutdown()) {
      passAfter(pauseAfter(Duration.between(begun, clock.instant())));
    }
  }

  /** How long to rest after a pass that took this long. */
  static Duration pauseAfter(Duration pass) {
    Duration twice = pass.multipliedBy(2);
    if (twice.compareTo(SHORTEST_PAUSE) < 0) {
      return SHORTEST_PAUSE;
    }
    return twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
  }

  /** Does no more. */
  @PreDestroy
  public void stop() {
    timer.shutdownNow();
    summaries.shutdownNow();
  }

  private void pass() {
    Map<Phase, Integer> phases = new EnumMap<>(Phase.class);
    int allocated = 0;
    Instant now = clock.instant();
    Duration oldest = Duration.ZERO;
    authority.refresh();
    try {
      nodes.lookIfDue();
    } catch (RuntimeException e) {
      // As with a job's trouble: the timer must go on.
      LOG.error("nodes could not be looked at", e);
    }
    List<TrainingJob> due = new ArrayList<>();
    for (TrainingJob job : cache.jobs()) {
      Phase phase = jobStatuses.phase(job);
      phases.merge(phase == null ? Phase.Queued : phase, 1, Integer::sum);
      if (phase == null || phase == Phase.Queued) {
        Duration age = Duration.between(created(job), now);
        oldest = age.compareTo(oldest) > 0 ? age : oldest;
      }
      AllocationStatus allocation = allocations.current(job);
      allocated += allocation == null ? 0 : allocation.replicas();
      // Of ended jobs too: the last report may come after the last pod ended.
      boolean holds = allocation != null && allocation.replicas() > 0;
      if (holds && !JobMapper.finished(job)) {
        attempt(job, () -> hangs.lookIfDue(job));
      } else {
        hangs.forget(job.getMetadata().getUid());
      }
      if (telemetry.due(job)) {
        summarize(job);
      }
      if (!JobMapper.finished(job)
          && !job.getSpec().gang()
          && (membership.due(job) || (holds && !named.ensured(job)))) {
        due.add(job);
      }
    }
    look(due);
    try {
      families.writeIfDue();
      advice.writeIfChanged();
      queues.writeIfDue();
    } catch (RuntimeException e) {
      // As with a job's trouble: the timer must go on.
      LOG.error("families, advice or queues could not be stored", e);
    }
    for (Phase phase : Phase.values()) {
      metrics.phase(phase.name(), phases.getOrDefault(phase, 0));
    }
    metrics.allocated(allocated);
    metrics.oldestQueued(oldest);
    metrics.watching(cache.watching());
    List<TrainingJob> deleted = cache.takeDeleted();
    deleted.forEach(gone -> attempt(gone, () -> forget(gone)));
    if (!deleted.isEmpty() || passes++ % ORPHANS_EVERY == 0) {
      deleteOrphans();
    }
    if (!now.isBefore(sweptAt.plus(SWEEP_INTERVAL))) {
      sweptAt = now;
      records.sweep(
          cache.jobs().stream()
              .map(job -> job.getMetadata().getUid())
              .collect(Collectors.toUnmodifiableSet()));
    }
  }

  private void deleteOrphans() {
    try {
      pods.deleteOrphans();
    } catch (RuntimeException e) {
      LOG.warn("pods of jobs that are gone could not be removed: {}", e.getMessage());
    }
  }

  private void forget(TrainingJob job) {
    named.removed(job);
    records.close(job.getMetadata().getUid());
    metrics.forget(job.getMetadata().getNamespace(), job.getMetadata().getName());
  }

  /** Looks at these jobs, some at a time: most looks wait for the API server. */
  private void look(List<TrainingJob> due) {
    if (!mandate.mayWrite()) {
      // Whatever is due is still due when the lease is renewed.
      return;
    }
    try (ExecutorService threads =
        Executors.newFixedThreadPool(LOOKS_AT_ONCE, Thread.ofVirtual().factory())) {
      for (TrainingJob job : due) {
        threads.execute(() -> {
          if (membership.due(job)) {
            attempt(job, () -> membership.evaluate(job));
          }
          AllocationStatus allocation = allocations.current(job);
          if (allocation != null && allocation.replicas() > 0) {
            attempt(job, () -> named.ensure(job));
          }
        });
      }
    }
  }

  /** Writes a job's summary some time soon: nothing waits for it, however many are due. */
  private void summarize(TrainingJob job) {
    String uid = job.getMetadata().getUid();
    if (mandate.mayWrite() && summarizing.add(uid)) {
      summaries.execute(() -> {
        try {
          attempt(job, () -> telemetry.writeIfDue(job));
        } finally {
          summarizing.remove(uid);
        }
      });
    }
  }

  private static Instant created(TrainingJob job) {
    return Instant.parse(job.getMetadata().getCreationTimestamp());
  }

  private void attempt(TrainingJob job, Runnable work) {
    try {
      work.run();
    } catch (KubernetesClientException e) {
      if (!mandate.mayWrite()) {
        // Said once where the lease is renewed, not for thousands of jobs.
        return;
      }
      metrics.reconcileFailed(true);
      LOG.warn("{}: the API server refused or did not answer: {}", Labels.id(job), e.getMessage());
    } catch (RuntimeException e) {
      // One job's trouble must not stop the timer for all others.
      metrics.reconcileFailed(false);
      LOG.error("{}: housekeeping failed", Labels.id(job), e);
    }
  }
}
