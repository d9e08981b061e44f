package dev.kastor.operator.cluster;

import dev.kastor.operator.Metrics;
import dev.kastor.scheduler.Change;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Round;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Measures how long new jobs wait for their first decision, and for their first GPUs. */
final class FirstLooks {
  /** So many ids are kept, of jobs that are gone too: one that was suspended is no new one. */
  private static final int MOST_KNOWN = 100_000;

  private final Metrics metrics;
  private final Set<JobId> known = new HashSet<>();
  private boolean started;

  FirstLooks(Metrics metrics) {
    this.metrics = metrics;
  }

  /** Looks at a round that ended now. */
  void decided(Round round, Instant now) {
    Map<JobId, JobState> seen = HashMap.newHashMap(round.snapshot().jobs().size());
    round.snapshot().jobs().forEach(job -> seen.put(job.id(), job));
    if (started) {
      seen.values().stream()
          .filter(job -> !known.contains(job.id()))
          .filter(FirstLooks::neverHadGpus)
          .forEach(job -> metrics.decidedFirst(sinceCreation(job, now)));
    }
    started = true;
    if (known.size() > MOST_KNOWN) {
      known.clear();
    }
    known.addAll(seen.keySet());
    for (Change change : round.changes()) {
      JobState job = seen.get(change.job());
      if (change instanceof Change.Start && job != null && neverHadGpus(job)) {
        metrics.waited(job.spec().queue(), sinceCreation(job, now));
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
