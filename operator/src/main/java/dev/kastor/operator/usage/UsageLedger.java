package dev.kastor.operator.usage;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Ledger of the slots that jobs hold and of what became of them. What a restart needs is in the
 * jobs' statuses ({@code status.usage}) and, of jobs that are gone, in {@link UsageArchive}.
 *
 * <p>Thread-safe.
 */
@Singleton
public final class UsageLedger {
  private static final int MOST_GONE = 1500;

  /** All nodes are looked at. */
  private static final Duration PRICES = Duration.ofSeconds(5);

  /** A job's meter beside whose the job is. */
  private record Metered(String uid, UsageOwner owner, JobMeter meter) {}

  private final ClusterCache cache;
  private final NodePrices prices;
  private final UsageArchive archive;
  private final InstantSource clock;
  private final Map<String, Metered> meters;
  private Instant nextPrices = Instant.EPOCH;

  /** Uids of jobs that are archived: a report that comes late must not count one twice. */
  private final Set<String> archived =
      Collections.newSetFromMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
              return size() > MOST_GONE;
            }
          });

  UsageLedger(
      JobRecords records,
      ClusterCache cache,
      NodePrices prices,
      UsageArchive archive,
      InstantSource clock) {
    meters = records.part(this::archive);
    this.cache = cache;
    this.prices = prices;
    this.archive = archive;
    this.clock = clock;
  }

  /** Begins to keep the ledger, after an operator that did. */
  public synchronized void takeOver() {
    meters.clear();
    archived.clear();
    archive.takeOver();
  }

  /**
   * Stops the job's meter for an allocation that is about to be decided; {@link #decided} starts
   * it.
   *
   * @return when the allocation begins, in whole milliseconds
   */
  public Instant stop(TrainingJob job) {
    return meter(job).stop(clock.instant());
  }

  /**
   * An allocation of this version is about to be stored.
   *
   * @return the job's usage until it begins, for its status
   */
  public String deciding(TrainingJob job, long version, Instant begin) {
    JobMeter meter = meter(job);
    meter.deciding(version);
    return meter.text(begin);
  }

  /** The allocation that holds from now on; that of before if no other could be stored. */
  public void decided(TrainingJob job, @Nullable AllocationStatus allocation) {
    meter(job).decided(allocation);
  }

  /**
   * A report of the replicas that train.
   *
   * @param whole whether they are all of the present allocation
   * @param lived changes that the replicas lived since the report before
   */
  public void reported(
      TrainingJob job, TelemetryReport report, boolean whole, List<Switch> lived, Instant now) {
    JobMeter meter = meter(job);
    meter.reported(report.replicas(), report.progress().scaleInvariantSteps(), whole, now);
    lived.forEach(meter::paused);
  }

  /** Useful part of the training of a job, in [0, 1]; not a number where nobody knows. */
  public void measured(TrainingJob job, double useful, Instant now) {
    meter(job).measured(useful, now);
  }

  /** A job entered a phase. */
  public void entered(TrainingJob job, Phase phase, Instant now) {
    meter(job).entered(phase, now);
  }

  /** The job's usage up to now, for its status. */
  public String text(TrainingJob job, Instant now) {
    return meter(job).text(now);
  }

  /** Takes note of a job that is gone, before its record ends. */
  public void gone(TrainingJob job) {
    var _ = meter(job);
  }

  /** Stores what jobs used that are gone. */
  public void write() {
    archive.write();
  }

  /** Takes note of prices of nodes that have changed, if it is time to look. Used by one thread. */
  public void reprice() {
    Instant now = clock.instant();
    if (now.isBefore(nextPrices)) {
      return;
    }
    nextPrices = now.plus(PRICES);
    if (prices.changed()) {
      meters.values().forEach(metered -> metered.meter().repriced(now));
    }
  }

  /** Usage of all jobs up to now, of those that are gone too. */
  public synchronized List<UsageRow> rows(Instant now) {
    List<UsageRow> rows = new ArrayList<>(archive.rows());
    living().forEach(metered -> rows.addAll(rows(metered, now)));
    rows.sort(UsageRow.ORDER);
    return rows;
  }

  /** Meters of all jobs that are not archived. */
  private Stream<Metered> living() {
    cache.jobs().forEach(this::meter);
    return meters.values().stream().filter(metered -> !archived.contains(metered.uid()));
  }

  /** The same by day and queue. */
  public synchronized Map<QueueDay, Usage> byQueue(Instant now) {
    Map<QueueDay, Usage> sums = new HashMap<>();
    archive.rows().forEach(row -> sums.merge(row.when(), row.usage(), Usage::plus));
    living()
        .forEach(metered ->
            metered
                .meter()
                .days(now)
                .forEach((when, usage) -> sums.merge(when, usage, Usage::plus)));
    return sums;
  }

  private synchronized void archive(Metered gone) {
    if (archived.add(gone.uid())) {
      archive.add(rows(gone, clock.instant()));
    }
  }

  private static List<UsageRow> rows(Metered metered, Instant now) {
    List<UsageRow> rows = new ArrayList<>();
    metered
        .meter()
        .days(now)
        .forEach((when, usage) -> rows.add(new UsageRow(when, metered.owner(), usage)));
    return rows;
  }

  /** The job's meter; a new one where another operator has decided meanwhile. */
  private JobMeter meter(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    AllocationStatus allocation = status == null ? null : status.allocation();
    return meters
        .compute(
            job.getMetadata().getUid(),
            (uid, known) ->
                known == null || known.meter().isBehind(allocation)
                    ? new Metered(
                        uid, UsageOwner.of(job), new JobMeter(job, prices, clock.instant()))
                    : known)
        .meter();
  }
}
