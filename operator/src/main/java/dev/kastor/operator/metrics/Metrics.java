package dev.kastor.operator.metrics;

import dev.kastor.crds.start.StartTimes;
import dev.kastor.operator.metrics.Families.Family;
import dev.kastor.protocol.Switch;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.model.Allocation;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.Counter;
import io.prometheus.client.Gauge;
import io.prometheus.client.Histogram;
import io.prometheus.client.hotspot.DefaultExports;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * Everything the operator counts, for Prometheus; served at {@code /metrics}.
 *
 * <p>{@code docs/metrics.md} is made from it.
 */
@Singleton
public final class Metrics {
  private static final double[] ROUND_SECONDS = {0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 30};
  private static final double[] DELAY_SECONDS = {0.25, 0.5, 1, 2, 5, 10, 30, 60, 300};
  private static final double[] PAUSE_SECONDS = {0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 60};

  private static final double[] START_SECONDS = {0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 60, 300};

  private static final double MILLI = 1000.0;

  private final CollectorRegistry registry = new CollectorRegistry();
  private final Families families = new Families(registry);

  private final Gauge jobPhases = families.gauge("kastor_jobs", "Jobs by phase.", "phase");
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

  private final QueueMetrics queues = new QueueMetrics(families);
  private final JobMetrics jobSeries = new JobMetrics(families);
  private final Histogram pauses =
      families.histogram(
          "kastor_pause_seconds",
          "Seconds without training around a change of members or batch, by cause: START,"
              + " RESCALE, FAILURE.",
          PAUSE_SECONDS,
          "cause");
  private final Histogram starts =
      families.histogram(
          "kastor_replica_start_seconds",
          "Seconds of a replica's start, by phase: image (scheduled until its container runs),"
              + " process (until its first request), preparation (until it could train), wait (for"
              + " the others), state, first-step.",
          START_SECONDS,
          "phase");

  private final Histogram decisions =
      families.histogram("kastor_decision_seconds", "Seconds of one round.", ROUND_SECONDS);
  private final Histogram delays =
      families.histogram(
          "kastor_first_decision_delay_seconds",
          "From a job's creation, known to the second, to the end of the first round that saw it."
              + " Jobs that were there when the operator started are not counted.",
          DELAY_SECONDS);
  private final Counter changes =
      families.counter("kastor_allocation_changes", "Changes of allocations that were stored.");
  private final Counter moves =
      families.counter(
          "kastor_allocation_moves",
          "Changes of allocations that were stored and keep the number of replicas, on other"
              + " nodes.");
  private final Counter served =
      families.counter(
          "kastor_jobs_served_at_once",
          "Jobs that were decided to get GPUs as they came, without a round over all jobs.");
  private final Counter failedRounds =
      families.counter("kastor_rounds_failed", "Rounds that failed or whose plan was refused.");

  private final Gauge overcommitted =
      families.gauge(
          "kastor_nodes_overcommitted", "Nodes whose pods hold more GPUs than the node has.");
  private final Gauge slowNodes =
      families.gauge(
          "kastor_node_slowdown",
          "How many times longer steps take on a node than on others of its GPU type, as reports"
              + " tell; nodes that are as fast as others are not listed.",
          "node");
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

  /** Those of queues. */
  public QueueMetrics queues() {
    return queues;
  }

  /** Those of single jobs. */
  public JobMetrics jobs() {
    return jobSeries;
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
  public void reallocated(Allocation before, Allocation after) {
    changes.inc();
    if (before.replicas() == after.replicas() && !before.equals(after)) {
      moves.inc();
    }
  }

  /** A scheduling round ended with an exception. */
  public void decisionFailed() {
    failedRounds.inc();
  }

  /** A round saw a job for the first time. */
  public void decidedFirst(Duration sinceCreation) {
    delays.observe(seconds(sinceCreation));
  }

  /** So many nodes have pods that hold more than they have. */
  public void overcommitted(int nodes) {
    overcommitted.set(nodes);
  }

  /** Steps take so many times longer on a node than on others. */
  public void nodeSlow(String node, double times) {
    slowNodes.labels(node).set(times);
  }

  /** A node is as fast as others, or gone. */
  public void nodeWell(String node) {
    slowNodes.remove(node);
  }

  /** A node was taken for dead. */
  public void nodeLost() {
    lostNodes.inc();
  }

  /** Replicas lived a change. */
  public void paused(Switch lived) {
    pauses.labels(lived.cause().name()).observe(lived.pauseSeconds());
  }

  /** A replica made its first step. */
  public void started(StartTimes start) {
    start.millis().forEach((phase, millis) -> starts.labels(phase.label()).observe(millis / MILLI));
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
    jobPhases.labels(phase).set(count);
  }

  /** How long the job that waits longest has been there. */
  public void oldestQueued(Duration age) {
    oldestQueued.set(seconds(age));
  }

  /** Slots given to jobs. */
  public void allocated(int count) {
    slots.labels("allocated").set(count);
  }

  private Gauge byType(String name, String help) {
    return families.gauge(name, help, "gpu_type");
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / MILLI;
  }
}
