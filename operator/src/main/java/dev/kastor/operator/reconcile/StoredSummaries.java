package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.family.FamilyStore;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.scheduling.AdviceWriter;
import dev.kastor.operator.scheduling.QueueStatusWriter;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.operator.usage.UsageCounters;
import dev.kastor.operator.usage.UsageLedger;
import jakarta.inject.Singleton;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Summaries that are stored when they are due: of jobs, families, advice, queues and usage. */
@Singleton
final class StoredSummaries {
  /** Many that are due at once must not keep the API server from what cannot wait. */
  private static final int AT_ONCE = 2;

  private final ClusterCache cache;
  private final TelemetryStore telemetry;
  private final FamilyStore families;
  private final AdviceWriter advice;
  private final QueueStatusWriter queues;
  private final UsageLedger usage;
  private final UsageCounters counters;
  private final JobAttempts attempts;
  private final Mandate mandate;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(AT_ONCE, Thread.ofVirtual().factory());

  /** Uids of jobs whose summary waits to be written. */
  private final Set<String> waiting;

  StoredSummaries(
      JobRecords records,
      ClusterCache cache,
      TelemetryStore telemetry,
      FamilyStore families,
      AdviceWriter advice,
      QueueStatusWriter queues,
      UsageLedger usage,
      UsageCounters counters,
      JobAttempts attempts,
      Mandate mandate) {
    waiting = records.flags();
    this.cache = cache;
    this.telemetry = telemetry;
    this.families = families;
    this.advice = advice;
    this.queues = queues;
    this.usage = usage;
    this.counters = counters;
    this.attempts = attempts;
    this.mandate = mandate;
  }

  /** Stores those that are due. */
  void writeIfDue() {
    // Of ended jobs too: the last report may come after the last pod ended.
    cache.jobs().stream().filter(telemetry::due).forEach(this::summarize);
    families.writeIfDue();
    advice.writeIfChanged();
    usage.reprice();
    queues.writeIfDue();
    usage.write();
    counters.countIfDue();
  }

  /** Writes a job's summary some time soon: nothing waits for it, however many are due. */
  private void summarize(TrainingJob job) {
    String uid = job.getMetadata().getUid();
    if (mandate.mayWrite() && waiting.add(uid)) {
      threads.execute(() -> {
        try {
          attempts.run(job, () -> telemetry.writeIfDue(job));
        } finally {
          waiting.remove(uid);
        }
      });
    }
  }

  /** Stores no more. */
  void stop() {
    threads.shutdownNow();
  }
}
