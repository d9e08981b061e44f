package dev.kastor.operator.cluster;

import dev.kastor.operator.Metrics;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Round;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;

/** Measures how long new jobs wait for their first decision. Thread-safe. */
@Singleton
public final class FirstLooks {
  /** So many ids are kept, of jobs that are gone too: one that was suspended is no new one. */
  private static final int MOST_KNOWN = 100_000;

  private final Metrics metrics;
  private final Set<JobId> known = new HashSet<>();
  private boolean started;

  public FirstLooks(Metrics metrics) {
    this.metrics = metrics;
  }

  /** Looks at a round that ended now. */
  synchronized void decided(Round round, Instant now) {
    boolean counts = started;
    started = true;
    if (known.size() > MOST_KNOWN) {
      known.clear();
      counts = false;
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
