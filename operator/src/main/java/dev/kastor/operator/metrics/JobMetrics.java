package dev.kastor.operator.metrics;

import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Staleness;
import io.prometheus.client.Counter;
import io.prometheus.client.Gauge;
import java.time.Instant;
import java.util.List;

/** Metrics of single jobs: gauges until a job ends, counters until it is gone. */
public final class JobMetrics {
  private static final double MILLI = 1000.0;

  private final Gauge replicas;
  private final Gauge goodput;
  private final Gauge throughput;
  private final Gauge efficiency;
  private final Gauge globalBatch;
  private final Gauge progress;
  private final Gauge checkpoint;
  private final Counter rescales;
  private final Counter podFailures;
  private final Counter hangs;
  private final Counter slowReplicas;
  private final Counter staleness;
  private final Counter droppedCopies;

  JobMetrics(Families families) {
    replicas = gauge(families, "kastor_job_replicas", "Replicas that train now.");
    goodput = gauge(families, "kastor_job_goodput", "Effective examples per second of a job.");
    throughput = gauge(families, "kastor_job_throughput", "Examples per second of a job.");
    efficiency =
        gauge(families, "kastor_job_efficiency", "Statistical efficiency of a job's batch.");
    globalBatch = gauge(families, "kastor_job_global_batch", "Examples per step of a job.");
    progress = gauge(families, "kastor_job_progress_ratio", "Done share of a job's work.");
    checkpoint =
        gauge(
            families,
            "kastor_job_checkpoint_timestamp_seconds",
            "When a job's newest checkpoint was saved, in seconds since 1970.");
    rescales =
        families.counter(
            "kastor_rescales",
            "Membership generations published, by action.",
            "namespace",
            "job",
            "action");
    podFailures =
        families.counter(
            "kastor_replica_failures",
            "Replicas that failed without progress since, by reason: Program (no restart helps),"
                + " Exited, Killed (by a signal, out of memory included), Unexplained (exit code 0"
                + " without a word that its work is done), Gone (no exit status, such as after an"
                + " eviction).",
            "namespace",
            "job",
            "reason");
    hangs =
        families.counter(
            "kastor_job_hangs",
            "Times that a job made no step for long though its replicas answered.",
            "namespace",
            "job");
    slowReplicas =
        families.counter(
            "kastor_replica_slow",
            "Replicas that held up the others of their job for minutes.",
            "namespace",
            "job");
    staleness =
        families.counter(
            "kastor_job_staleness_updates",
            "Asynchronous updates of a job's parameters, by how many others came between the"
                + " reading of the parameters and the update; the last value that there is counts"
                + " all greater ones as well.",
            "namespace",
            "job",
            "staleness");
    droppedCopies =
        families.counter(
            "kastor_job_dropped_copies",
            "Shares of steps that came after another worker's copy of the same share.",
            "namespace",
            "job");
  }

  private static Gauge gauge(Families families, String name, String help) {
    return families.gauge(name, help, "namespace", "job");
  }

  /** One job's present figures. */
  public void trains(
      String namespace,
      String name,
      int replicaCount,
      double goodputNow,
      double throughputNow,
      double efficiencyNow,
      int batch,
      double fraction) {
    replicas.labels(namespace, name).set(replicaCount);
    goodput.labels(namespace, name).set(goodputNow);
    throughput.labels(namespace, name).set(throughputNow);
    efficiency.labels(namespace, name).set(efficiencyNow);
    globalBatch.labels(namespace, name).set(batch);
    progress.labels(namespace, name).set(fraction);
  }

  /** When a job's newest checkpoint was saved. */
  public void checkpointed(String namespace, String name, Instant at) {
    checkpoint.labels(namespace, name).set(at.toEpochMilli() / MILLI);
  }

  /** A generation was published. */
  public void published(String namespace, String job, Membership.Action action) {
    rescales.labels(namespace, job, action.name()).inc();
  }

  /** A replica of a job failed. */
  public void failed(String namespace, String job, FailureKind kind) {
    podFailures.labels(namespace, job, kind.label()).inc();
  }

  /** A job hangs. */
  public void hung(String namespace, String job) {
    hangs.labels(namespace, job).inc();
  }

  /** A replica holds up the others. */
  public void slow(String namespace, String job) {
    slowReplicas.labels(namespace, job).inc();
  }

  /** Parameter servers of a job took in so many more updates by their staleness, and copies. */
  public void updated(String namespace, String job, List<Long> byStaleness, long copies) {
    for (int i = 0; i < byStaleness.size(); i++) {
      if (byStaleness.get(i) > 0) {
        staleness.labels(namespace, job, Integer.toString(i)).inc(byStaleness.get(i));
      }
    }
    if (copies > 0) {
      droppedCopies.labels(namespace, job).inc((double) copies);
    }
  }

  /** A job has ended: what it is doing now ends, its counters stay. */
  public void ended(String namespace, String name) {
    for (Gauge gauge :
        List.of(replicas, goodput, throughput, efficiency, globalBatch, progress, checkpoint)) {
      gauge.remove(namespace, name);
    }
  }

  /** A job is gone: all its series end. */
  public void forget(String namespace, String name) {
    ended(namespace, name);
    hangs.remove(namespace, name);
    slowReplicas.remove(namespace, name);
    droppedCopies.remove(namespace, name);
    for (int i = 0; i < Staleness.MOST_COUNTS; i++) {
      staleness.remove(namespace, name, Integer.toString(i));
    }
    for (Membership.Action action : Membership.Action.values()) {
      rescales.remove(namespace, name, action.name());
    }
    for (FailureKind kind : FailureKind.values()) {
      podFailures.remove(namespace, name, kind.label());
    }
  }
}
