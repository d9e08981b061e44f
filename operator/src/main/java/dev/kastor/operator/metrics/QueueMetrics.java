package dev.kastor.operator.metrics;

import dev.kastor.crds.queue.QueueStatus;
import io.prometheus.client.Counter;
import io.prometheus.client.Gauge;
import io.prometheus.client.Histogram;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Metrics of queues. The label of jobs of no queue is empty. */
public final class QueueMetrics {
  private static final double[] WAIT_SECONDS = {1, 5, 15, 60, 300, 900, 3600, 14400, 86400};
  private static final double MILLI = 1000.0;

  private final Gauge gpus;
  private final Gauge jobs;
  private final Gauge budget;
  private final Counter used;
  private final Counter cost;
  private final Histogram waits;

  QueueMetrics(Families families) {
    gpus =
        families.gauge(
            "kastor_queue_gpus",
            "GPUs of a Queue, by state: quota (what it is entitled to), used, borrowed (used beyond"
                + " its quota), lent (of its quota, used by others).",
            "queue",
            "state");
    jobs =
        families.gauge(
            "kastor_queue_jobs", "Jobs of a Queue, by state: running, pending.", "queue", "state");
    budget =
        families.gauge(
            "kastor_queue_budget_gpu_hours",
            "GPU-hours of a Queue's budget in its present period, by state: limit, used.",
            "queue",
            "state");
    used =
        families.counter(
            "kastor_queue_gpu_seconds",
            "GPU-seconds that jobs of a queue held, by use: useful, inefficient, starting,"
                + " rescaling, failures, unknown. The sum over the uses is what was held.",
            "queue",
            "use");
    cost =
        families.counter(
            "kastor_queue_cost",
            "Cost of the GPUs that jobs of a queue held, in the currency of the nodes' prices;"
                + " nodes without a price cost nothing.",
            "queue");
    waits =
        families.histogram(
            "kastor_queue_wait_seconds",
            "From a job's creation to its first GPUs, by queue.",
            WAIT_SECONDS,
            "queue");
  }

  /** What a queue holds; without a quota it has no series for it. */
  public void holds(String name, @Nullable Integer quota, QueueStatus status) {
    series(name, "quota", quota);
    series(name, "used", status.gpusUsed());
    series(name, "borrowed", status.gpusBorrowed());
    series(name, "lent", status.gpusLent());
    jobs.labels(name, "running").set(orZero(status.runningJobs()));
    jobs.labels(name, "pending").set(orZero(status.pendingJobs()));
  }

  /** Budget of a queue and what is used of it, in GPU-hours. */
  public void budget(String name, double limit, double usedHours) {
    budget.labels(name, "limit").set(limit);
    budget.labels(name, "used").set(usedHours);
  }

  /** A queue has no budget, any more. */
  public void noBudget(String name) {
    budget.remove(name, "limit");
    budget.remove(name, "used");
  }

  /** Jobs of a queue held GPUs for so many GPU-seconds more. */
  public void used(String name, String use, double gpuSeconds) {
    used.labels(name, use).inc(gpuSeconds);
  }

  /** GPUs that jobs of a queue held cost so much more. */
  public void cost(String name, double money) {
    cost.labels(name).inc(money);
  }

  /** A job got GPUs for the first time. */
  public void waited(String name, Duration sinceCreation) {
    waits.labels(name).observe(sinceCreation.toMillis() / MILLI);
  }

  /** A queue is gone: what it holds and has of a budget ends. */
  public void forget(String name) {
    noBudget(name);
    for (String state : List.of("quota", "used", "borrowed", "lent")) {
      gpus.remove(name, state);
    }
    jobs.remove(name, "running");
    jobs.remove(name, "pending");
  }

  /** A queue has not been used for long: its counters end. */
  public void forgetUse(String name, Iterable<String> uses) {
    uses.forEach(use -> used.remove(name, use));
    cost.remove(name);
  }

  private void series(String name, String state, @Nullable Integer count) {
    if (count == null) {
      gpus.remove(name, state);
    } else {
      gpus.labels(name, state).set(count);
    }
  }

  private static int orZero(@Nullable Integer count) {
    return count == null ? 0 : count;
  }
}
