package dev.kastor.operator.metrics;

import dev.kastor.crds.queue.QueueStatus;
import dev.kastor.operator.metrics.Families.Family;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Switch;
import dev.kastor.scheduler.loop.Round;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.Counter;
import io.prometheus.client.Gauge;
import io.prometheus.client.Histogram;
import io.prometheus.client.hotspot.DefaultExports;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything the operator counts, for Prometheus; served at {@code /metrics}.
 *
 * <p>{@code docs/metrics.md} is made from it.
 */
@Singleton
public final class Metrics {
  private static final double[] ROUND_SECONDS = {0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 30};
  private static final double[] DELAY_SECONDS = {0.25, 0.5, 1, 2, 5, 10, 30, 60, 300};
  private static final double[] WAIT_SECONDS = {1, 5, 15, 60, 300, 900, 3600, 14400, 86400};
  private static final double[] PAUSE_SECONDS = {0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 60};

  /** Uses of slots, as series of queues name them. */
  private static final List<String> USES =
      List.of("useful", "inefficient", "starting", "rescaling", "failures", "unknown");

  private static final double MILLI = 1000.0;

  private final CollectorRegistry registry = new CollectorRegistry();
  private final Families families = new Families(registry);

  private final Gauge jobs = families.gauge("kastor_jobs", "Jobs by phase.", "phase");
  private final Gauge oldestQueued =
      families.gauge(
          "kastor_oldest_queued_seconds", "Age of the oldest job that waits for GPUs; 0 if none.");
  private final Gauge slots =
      families.gauge(
          "kastor_slots",
          "GPUs (slots) that jobs may use (total), and those given to jobs (allocated).",
          "state");
  private final Gauge nodes = byType("kastor_nodes", "Nodes of a GPU type.");
  private final Gauge advisedNodes =
      byType("kastor_advised_nodes", "Nodes of a GPU type that there should be.");
  private final Gauge utility =
      byType("kastor_utility", "Worth of the allocations over the cost of the nodes.");

  private final Gauge queueGpus =
      families.gauge(
          "kastor_queue_gpus",
          "GPUs of a Queue, by state: quota (what it is entitled to), used, borrowed (used beyond"
              + " its quota), lent (of its quota, used by others).",
          "queue",
          "state");
  private final Gauge queueJobs =
      families.gauge(
          "kastor_queue_jobs", "Jobs of a Queue, by state: running, pending.", "queue", "state");

  private final Gauge queueBudget =
      families.gauge(
          "kastor_queue_budget_gpu_hours",
          "GPU-hours of a Queue's budget in its present period, by state: limit, used.",
          "queue",
          "state");
  private final Gauge queueToday =
      families.gauge(
          "kastor_queue_today_gpu_hours",
          "GPU-hours that jobs of a Queue held since 00:00 UTC, by use: useful, inefficient,"
              + " starting, rescaling, failures, unknown.",
          "queue",
          "use");

  private final Gauge replicas = job("kastor_job_replicas", "Replicas that train now.");
  private final Gauge goodput =
      job("kastor_job_goodput", "Effective examples per second of a job.");
  private final Gauge throughput = job("kastor_job_throughput", "Examples per second of a job.");
  private final Gauge efficiency =
      job("kastor_job_efficiency", "Statistical efficiency of a job's batch.");
  private final Gauge globalBatch = job("kastor_job_global_batch", "Examples per step of a job.");
  private final Gauge progress = job("kastor_job_progress_ratio", "Done share of a job's work.");
  private final Gauge checkpoint =
      job(
          "kastor_job_checkpoint_timestamp_seconds",
          "When a job's newest checkpoint was saved, in seconds since 1970.");
  private final Counter rescales =
      families.counter(
          "kastor_rescales",
          "Membership generations published, by action.",
          "namespace",
          "job",
          "action");
  private final Histogram pauses =
      families.histogram(
          "kastor_pause_seconds",
          "Seconds without training around a change of members or batch, by cause: START,"
              + " RESCALE, FAILURE.",
          PAUSE_SECONDS,
          "cause");
  private final Counter podFailures =
      families.counter(
          "kastor_replica_failures",
          "Replicas that failed without progress since, by reason: Program (no restart helps),"
              + " Exited, Killed (by a signal, out of memory included), Unexplained (exit code 0"
              + " without a word that its work is done), Gone (no exit status, such as after an"
              + " eviction).",
          "namespace",
          "job",
          "reason");

  private final Histogram decisions =
      families.histogram("kastor_decision_seconds", "Seconds of one round.", ROUND_SECONDS);
  private final Histogram delays =
      families.histogram(
          "kastor_first_decision_delay_seconds",
          "From a job's creation, known to the second, to the end of the first round that saw it."
              + " Jobs that were there when the operator started are not counted.",
          DELAY_SECONDS);
  private final Histogram waits =
      families.histogram(
          "kastor_queue_wait_seconds",
          "From a job's creation to its first GPUs, by queue.",
          WAIT_SECONDS,
          "queue");
  private final Counter changes =
      families.counter("kastor_allocation_changes", "Changes of allocations that were stored.");
  private final Counter served =
      families.counter(
          "kastor_jobs_served_at_once",
          "Jobs that were decided to get GPUs as they came, without a round over all jobs.");
  private final Counter failedRounds =
      families.counter("kastor_rounds_failed", "Rounds that failed or whose plan was refused.");

  private final Counter hangs =
      families.counter(
          "kastor_job_hangs",
          "Times that a job made no step for long though its replicas answered.",
          "namespace",
          "job");
  private final Counter slowReplicas =
      families.counter(
          "kastor_replica_slow",
          "Replicas that held up the others of their job for minutes.",
          "namespace",
          "job");
  private final Gauge overcommitted =
      families.gauge(
          "kastor_nodes_overcommitted", "Nodes whose pods hold more GPUs than the node has.");
  private final Counter lostNodes =
      families.counter(
          "kastor_nodes_lost",
          "Nodes that were taken for dead because their replicas and their kubelet were silent.");

  private final Counter reconcileErrors =
      families.counter(
          "kastor_reconcile_errors",
          "Looks at a job that failed, by reason: api (the API server refused or did not answer) or"
              + " internal.",
          "reason");
  private final Counter apiRequests =
      families.counter(
          "kastor_api_requests",
          "Requests to the API server by method and status; code none: no answer.",
          "method",
          "code");
  private final Counter eventsLost =
      families.counter(
          "kastor_events_lost", "Events that were not sent because too many waited to be.");
  private final Gauge watching =
      families.gauge(
          "kastor_watching",
          "1 while the watches of jobs, pods and nodes are up: what the operator knows is new.");
  private final Gauge leader =
      families.gauge("kastor_leader", "1 on the operator that decides, 0 on one that stands by.");
  private final Gauge build =
      families.gauge("kastor_build_info", "1, with what runs as labels.", "version", "java");

  private final Counter reports =
      families.counter("kastor_telemetry_reports", "Accepted reports of replicas.");
  private final Counter refused =
      families.counter("kastor_telemetry_refused", "Refused agent requests, by reason.", "reason");
  private final Counter quarantined =
      families.counter(
          "kastor_jobs_quarantined",
          "Times that a job sent so many bad reports that its reports were refused for a while.");
  private final Counter tokenReviews =
      families.counter(
          "kastor_token_reviews",
          "Tokens of agents checked, by answer: cached, or asked of the API server.",
          "answer");
  private final Gauge polls =
      families.gauge("kastor_membership_polls", "Polls of replicas waiting now.");

  /** A fresh set of metrics, with those of the JVM. */
  public Metrics() {
    DefaultExports.register(registry);
  }

  /** What {@code /metrics} shows. */
  public CollectorRegistry registry() {
    return registry;
  }

  /** What Kastor itself counts, in the order of the documentation. */
  public List<Family> families() {
    return families.made();
  }

  /** A scheduling round ended. */
  public void decided(Round round, double seconds) {
    decisions.observe(seconds);
    if (!round.violations().isEmpty()) {
      failedRounds.inc();
    }
    slots.labels("total").set(round.snapshot().totalSlots());
  }

  /** Newcomers were given GPUs without a round over all jobs. */
  public void served(Round round) {
    served.inc(round.changes().size());
  }

  /** The allocation of a job was changed. */
  public void reallocated() {
    changes.inc();
  }

  /** A scheduling round ended with an exception. */
  public void decisionFailed() {
    failedRounds.inc();
  }

  /** A round saw a job for the first time. */
  public void decidedFirst(Duration sinceCreation) {
    delays.observe(seconds(sinceCreation));
  }

  /** A job got GPUs for the first time. */
  public void waited(String queue, Duration sinceCreation) {
    waits.labels(queue).observe(seconds(sinceCreation));
  }

  /** A job hangs. */
  public void hung(String namespace, String job) {
    hangs.labels(namespace, job).inc();
  }

  /** A replica holds up the others. */
  public void slow(String namespace, String job) {
    slowReplicas.labels(namespace, job).inc();
  }

  /** So many nodes have pods that hold more than they have. */
  public void overcommitted(int nodes) {
    overcommitted.set(nodes);
  }

  /** A node was taken for dead. */
  public void nodeLost() {
    lostNodes.inc();
  }

  /** A generation was published. */
  public void published(String namespace, String job, Membership.Action action) {
    rescales.labels(namespace, job, action.name()).inc();
  }

  /** Replicas lived a change. */
  public void paused(Switch lived) {
    pauses.labels(lived.cause().name()).observe(lived.pauseSeconds());
  }

  /** A replica of a job failed. */
  public void failed(String namespace, String job, FailureKind kind) {
    podFailures.labels(namespace, job, kind.label()).inc();
  }

  /** A look at a job failed. */
  public void reconcileFailed(boolean apiServer) {
    reconcileErrors.labels(apiServer ? "api" : "internal").inc();
  }

  /** The API server answered a request, or did not (code none). */
  public void apiRequest(String method, String code) {
    apiRequests.labels(method.toUpperCase(Locale.ROOT), code).inc();
  }

  /** Whether all watches are up. */
  public void watching(boolean up) {
    watching.set(up ? 1 : 0);
  }

  /** Whether this operator decides. */
  public void leading(boolean leads) {
    leader.set(leads ? 1 : 0);
  }

  /** What runs. */
  public void built(String version, String java) {
    build.labels(version, java).set(1);
  }

  /** An event was not sent. */
  public void eventLost() {
    eventsLost.inc();
  }

  /** A report was accepted. */
  public void reported() {
    reports.inc();
  }

  /** An agent's request was refused. */
  public void refused(String reason) {
    refused.labels(reason).inc();
  }

  /** An agent's token was checked. */
  public void tokenReviewed(boolean cached) {
    tokenReviews.labels(cached ? "cached" : "asked").inc();
  }

  /** A job's reports are refused for a while. */
  public void quarantined() {
    quarantined.inc();
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

  /** What a queue holds; without a quota it has no series for it. */
  public void queue(String name, @Nullable Integer quota, QueueStatus status) {
    queueSeries(name, "quota", quota);
    queueSeries(name, "used", status.gpusUsed());
    queueSeries(name, "borrowed", status.gpusBorrowed());
    queueSeries(name, "lent", status.gpusLent());
    queueJobs.labels(name, "running").set(orZero(status.runningJobs()));
    queueJobs.labels(name, "pending").set(orZero(status.pendingJobs()));
  }

  /** What jobs of a queue did with their slots today, by use, in GPU-hours. */
  public void queueToday(String name, Map<String, Double> hours) {
    hours.forEach((use, held) -> queueToday.labels(name, use).set(held));
  }

  /** Budget of a queue and what is used of it, in GPU-hours. */
  public void queueBudget(String name, double limit, double used) {
    queueBudget.labels(name, "limit").set(limit);
    queueBudget.labels(name, "used").set(used);
  }

  /** A queue has no budget, any more. */
  public void noQueueBudget(String name) {
    queueBudget.remove(name, "limit");
    queueBudget.remove(name, "used");
  }

  /** A queue is gone: its series end. */
  public void forgetQueue(String name) {
    noQueueBudget(name);
    USES.forEach(use -> queueToday.remove(name, use));
    for (String state : List.of("quota", "used", "borrowed", "lent")) {
      queueGpus.remove(name, state);
    }
    queueJobs.remove(name, "running");
    queueJobs.remove(name, "pending");
  }

  /** How long the job that waits longest has been there. */
  public void oldestQueued(Duration age) {
    oldestQueued.set(seconds(age));
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

  /** When a job's newest checkpoint was saved. */
  public void checkpointed(String namespace, String name, Instant at) {
    checkpoint.labels(namespace, name).set(at.toEpochMilli() / MILLI);
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
    for (Membership.Action action : Membership.Action.values()) {
      rescales.remove(namespace, name, action.name());
    }
    for (FailureKind kind : FailureKind.values()) {
      podFailures.remove(namespace, name, kind.label());
    }
  }

  private void queueSeries(String name, String state, @Nullable Integer gpus) {
    if (gpus == null) {
      queueGpus.remove(name, state);
    } else {
      queueGpus.labels(name, state).set(gpus);
    }
  }

  private static int orZero(@Nullable Integer count) {
    return count == null ? 0 : count;
  }

  private Gauge byType(String name, String help) {
    return families.gauge(name, help, "gpu_type");
  }

  private Gauge job(String name, String help) {
    return families.gauge(name, help, "namespace", "job");
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / MILLI;
  }
}
