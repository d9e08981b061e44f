package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.NamedObjects;
import dev.kastor.operator.usage.UsageLedger;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removal of what jobs that are gone left behind: records, series, objects and pods. */
@Singleton
final class GoneJobs {
  private static final Logger LOG = LoggerFactory.getLogger(GoneJobs.class);

  /** A job has to be unknown to the cache at two looks, so apart, before its record ends. */
  private static final Duration SWEEP_INTERVAL = Duration.ofSeconds(10);

  /** Other housekeeping waits for requests of a pass so long, and for one request more. */
  private static final Duration LONGEST_REMOVAL = Duration.ofSeconds(2);

  /** Passes between two looks for pods whose job is gone while no job goes. */
  private static final int ORPHANS_EVERY = 20;

  private final JobRecords records;
  private final ClusterCache cache;
  private final JobPods pods;
  private final NamedObjects named;
  private final Metrics metrics;
  private final UsageLedger usage;
  private final JobAttempts attempts;
  private final InstantSource clock;

  /** Jobs that are gone and whose objects are still to be removed. */
  private final Queue<TrainingJob> leftBehind = new ArrayDeque<>();

  private int passes;
  private Instant sweptAt = Instant.EPOCH;

  GoneJobs(
      JobRecords records,
      ClusterCache cache,
      JobPods pods,
      NamedObjects named,
      Metrics metrics,
      UsageLedger usage,
      JobAttempts attempts,
      InstantSource clock) {
    this.records = records;
    this.cache = cache;
    this.pods = pods;
    this.named = named;
    this.metrics = metrics;
    this.usage = usage;
    this.attempts = attempts;
    this.clock = clock;
  }

  /** Takes over: from here on deletions are remembered for us. */
  void start() {
    pass();
    // What is gone by now was the matter of the operator before.
    usage.takeOver();
  }

  /**
   * Removes what there is by now. Memory first: requests to an API server that does not answer take
   * their time, and what must not wait for them does not.
   */
  void pass() {
    List<TrainingJob> deleted = cache.takeDeleted();
    deleted.forEach(usage::gone);
    deleted.forEach(this::forget);
    leftBehind.addAll(deleted);
    Instant now = clock.instant();
    if (!now.isBefore(sweptAt.plus(SWEEP_INTERVAL))) {
      sweptAt = now;
      records.sweep(
          cache.jobs().stream()
              .map(job -> job.getMetadata().getUid())
              .collect(Collectors.toUnmodifiableSet()));
    }
    Instant end = now.plus(LONGEST_REMOVAL);
    while (!leftBehind.isEmpty() && clock.instant().isBefore(end)) {
      TrainingJob job = leftBehind.remove();
      attempts.run(job, () -> named.removed(job));
    }
    if (!deleted.isEmpty() || passes++ % ORPHANS_EVERY == 0) {
      deleteOrphans();
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
    records.close(job.getMetadata().getUid());
    metrics.jobs().forget(job.getMetadata().getNamespace(), job.getMetadata().getName());
  }
}
