package dev.kastor.operator;

import dev.kastor.scheduler.Round;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.Counter;
import io.prometheus.client.Gauge;
import io.prometheus.client.Histogram;
import io.prometheus.client.hotspot.DefaultExports;
import jakarta.inject.Singleton;

/** Everything the operator counts, for Prometheus; served at {@code /metrics}. */
@Singleton
public final class Metrics {
  private final CollectorRegistry registry = new CollectorRegistry();

  private final Gauge jobs =
      Gauge.build("kastor_jobs", "Jobs by phase.").labelNames("phase").register(registry);
  private final Gauge slots =
      Gauge.build("kastor_slots", "Slots that jobs may use, and those given to jobs.")
          .labelNames("state")
          .register(registry);
  private final Gauge nodes = byType("kastor_nodes", "Nodes of a GPU type.");
  private final Gauge advisedNodes =
      byType("kastor_advised_nodes", "Nodes of a GPU type that there should be.");
  private final Gauge utility =
      byType("kastor_utility", "Worth of the allocations over the cost of the nodes.");
  private final Gauge replicas = job("kastor_job_replicas", "Replicas the scheduler gave a job.");
  private final Gauge goodput =
      job("kastor_job_goodput", "Effective examples per second of a job.");
  private final Gauge throughput = job("kastor_job_throughput", "Examples per second of a job.");
  private final Gauge efficiency =
      job("kastor_job_efficiency", "Statistical efficiency of a job's batch.");
  private final Gauge globalBatch = job("kastor_job_global_batch", "Examples per step of a job.");
  private final Gauge progress = job("kastor_job_progress_ratio", "Done share of a job's work.");
  private final Counter rescales =
      Counter.build("kastor_rescales", "Membership generations published, by action.")
          .labelNames("namespace", "job", "action")
          .register(registry);
  private final Counter podFailures =
      Counter.build("kastor_replica_failures", "Failed replicas.")
          .labelNames("namespace", "job")
          .register(registry);
  private final Counter reports =
      Counter.build("kastor_telemetry_reports", "Accepted reports.").register(registry);
  private final Counter refused =
      Counter.build("kastor_telemetry_refused", "Refused agent requests, by reason.")
          .labelNames("reason")
          .register(registry);
  private final Histogram decisions =
      Histogram.build("kastor_decision_seconds", "Seconds of one scheduling round.")
          .buckets(0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 30)
          .register(registry);
  private final Counter changes =
      Counter.build("kastor_allocation_changes", "Changes of allocations.").register(registry);
  private final Counter failedRounds =
      Counter.build("kastor_rounds_failed", "Rounds that failed or whose plan was refused.")
          .register(registry);
  private final Gauge polls =
      Gauge.build("kastor_membership_polls", "Polls waiting now.").register(registry);

  /** A fresh set of metrics, with those of the JVM. */
  public Metrics() {
    DefaultExports.register(registry);
  }

  /** What {@code /metrics} shows. */
  public CollectorRegistry registry() {
    return registry;
  }

  /** A scheduling round ended. */
  public void decided(Round round, double seconds) {
    decisions.observe(seconds);
    changes.inc(round.changes().size());
    if (!round.violations().isEmpty()) {
      failedRounds.inc();
    }
    slots.labels("total").set(round.snapshot().totalSlots());
  }

  /** A scheduling round ended with an exception. */
  public void decisionFailed() {
    failedRounds.inc();
  }

  /** A generation was published. */
  public void published(String namespace, String job, String action) {
    rescales.labels(namespace, job, action).inc();
  }

  /** Replicas of a job failed. */
  public void failed(String namespace, String job, int count) {
    podFailures.labels(namespace, job).inc(count);
  }

  /** A report was accepted. */
  public void reported() {
    reports.inc();
  }

  /** An agent's request was refused. */
  public void refused(String reason) {
    refused.labels(reason).inc();
  }

  /** How many polls wait. */
  public void polling(int delta) {
    polls.inc(delta);
  }

  /** What is advised on the nodes of a GPU type. */
  public void advised(String gpuType, int present, int wanted, double worthOverCost) {
    nodes.labels(gpuType).set(present);
    advisedNodes.labels(gpuType).set(wanted);
    utility.labels(gpuType).set(worthOverCost);
  }

  /** How many jobs are in a phase. */
  public void phase(String phase, int count) {
    jobs.labels(phase).set(count);
  }

  /** Slots given to jobs. */
  public void allocated(int count) {
    slots.labels("allocated").set(count);
  }

  /** One job's present figures. */
  public void job(
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

  /** A job is gone or done: its series end. */
  public void forget(String namespace, String name) {
    for (Gauge gauge :
        new Gauge[] {replicas, goodput, throughput, efficiency, globalBatch, progress}) {
      gauge.remove(namespace, name);
    }
  }

  private Gauge byType(String name, String help) {
    return Gauge.build(name, help).labelNames("gpu_type").register(registry);
  }

  private Gauge job(String name, String help) {
    return Gauge.build(name, help).labelNames("namespace", "job").register(registry);
  }
}
