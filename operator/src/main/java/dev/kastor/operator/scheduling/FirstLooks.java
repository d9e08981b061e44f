package dev.kastor.operator.scheduling;

import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;

/** Measures how long new jobs wait for their first decision. Thread-safe. */
@Singleton
public final class FirstLooks {
  /** Ids beyond twice those of a round after which ids of jobs that are gone are dropped. */
  private static final int SPARE = 1000;

  private final Metrics metrics;
  private final Predicate<JobId> exists;

  /** Jobs of earlier rounds: one that was suspended meanwhile is not new. */
  private final Set<JobId> known = new HashSet<>();

  private boolean started;

  @Inject
  public FirstLooks(Metrics metrics, ClusterCache cache) {
    this(metrics, job -> cache.job(job).isPresent());
  }

  FirstLooks(Metrics metrics, Predicate<JobId> exists) {
    this.metrics = metrics;
    this.exists = exists;
  }

  /** Looks at a round that ended now. */
  synchronized void decided(Round round, Instant now) {
    boolean counts = started;
    started = true;
    if (known.size() > 2 * round.snapshot().jobs().size() + SPARE) {
      known.removeIf(exists.negate());
    }
    for (JobState job : round.snapshot().jobs()) {
      if (known.add(job.id()) && counts && neverHadGpus(job)) {
        metrics.decidedFirst(sinceCreation(job, now));
      }
    }
  }

  private static boolean neverHadGpus(JobState job) {
    return job.allocation().replicas() == 0 && job.sinceChange().isZero();
  }

  private static Duration sinceCreation(JobState job, Instant now) {
    return Duration.between(job.spec().submitted(), now);
  }
}
