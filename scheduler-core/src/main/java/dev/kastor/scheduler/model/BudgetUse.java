package dev.kastor.scheduler.model;

import java.time.Instant;

/**
 * Use of a queue's budget in its present period, and what follows for its jobs.
 *
 * @param budget what there is
 * @param usedMillis GPU-milliseconds that its jobs held since the period began
 * @param until when the next period begins
 */
public record BudgetUse(Budget budget, long usedMillis, Instant until) {
  /** Priority of jobs that come after all others: below the lowest that a job may ask for. */
  public static final int LAST = -1001;

  private static final double HOUR_MILLIS = 3_600_000;

  /** GPU-hours that its jobs held since the period began. */
  public double usedHours() {
    return usedMillis / HOUR_MILLIS;
  }

  /** Part of it that is used, rounded down. */
  public int usedPercent() {
    double percent = budget.gpuHours() > 0 ? 100 * usedHours() / budget.gpuHours() : 100;
    return (int) Math.min(Integer.MAX_VALUE, percent);
  }

  /** Whether nothing is left of it. */
  public boolean spent() {
    return usedMillis >= Math.round(HOUR_MILLIS * budget.gpuHours());
  }

  /** Whether no job of the queue runs now. */
  public boolean stops() {
    return spent() && budget.whenSpent() == Budget.WhenSpent.STOP;
  }

  /** Whether jobs of the queue come after all others now. */
  public boolean lowers() {
    return spent() && budget.whenSpent() == Budget.WhenSpent.LOWER_PRIORITY;
  }

  /** The queue as it is now; a stop policy stands whatever is left of the budget. */
  public Queue applied(Queue queue) {
    return stops() && queue.stop() != StopPolicy.HOLD_AND_DRAIN
        ? queue.stopped(reason(queue.name()), until)
        : queue;
  }

  /** Why jobs of the queue hold nothing. */
  public Reason reason(String queue) {
    return Reason.of(
        "BudgetSpent",
        "%s Its jobs go on from their checkpoints at %s, or once spec.budget.gpuHours is higher."
            .formatted(state(queue), until));
  }

  /** Why jobs of the queue come after all others. */
  public Reason lowered(String queue) {
    return Reason.of(
        "BudgetSpent",
        "%s Until %s its jobs come after all others, or until spec.budget.gpuHours is higher."
            .formatted(state(queue), until));
  }

  private String state(String queue) {
    return "Queue %s has spent its budget of %s.".formatted(queue, budget);
  }
}
