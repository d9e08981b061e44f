package dev.kastor.operator.queue;

import dev.kastor.crds.queue.QueueSpec.BudgetSpec;
import dev.kastor.crds.queue.QueueSpec.OnExceeded;
import dev.kastor.crds.queue.QueueSpec.PeriodKind;
import dev.kastor.scheduler.model.Reason;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAdjusters;
import java.util.Locale;

/**
 * Budget of a queue in its present period.
 *
 * @param spec what the queue's object says
 * @param usedMillis GPU-milliseconds that its jobs held since the period began
 * @param until when the next period begins
 */
public record Budget(BudgetSpec spec, long usedMillis, Instant until) {
  /** Priority of jobs that come after all others: below the lowest that a job may ask for. */
  static final int LAST = -1001;

  private static final double HOUR_MILLIS = 3_600_000;

  /** First day of the period that a day is in. */
  static LocalDate begin(PeriodKind period, LocalDate day) {
    return switch (period) {
      case Day -> day;
      case Week -> day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
      case Month -> day.withDayOfMonth(1);
    };
  }

  /** When the period after the one that begins on this day begins. */
  static Instant end(PeriodKind period, LocalDate begin) {
    LocalDate next =
        switch (period) {
          case Day -> begin.plusDays(1);
          case Week -> begin.plusWeeks(1);
          case Month -> begin.plusMonths(1);
        };
    return next.atStartOfDay(ZoneOffset.UTC).toInstant();
  }

  /** GPU-hours that its jobs held since the period began. */
  public double usedHours() {
    return usedMillis / HOUR_MILLIS;
  }

  /** Part of it that is used, rounded down. */
  int usedPercent() {
    double percent = spec.gpuHours() > 0 ? 100 * usedHours() / spec.gpuHours() : 100;
    return (int) Math.min(Integer.MAX_VALUE, percent);
  }

  /** Whether nothing is left of it. */
  public boolean spent() {
    return usedMillis >= Math.round(HOUR_MILLIS * spec.gpuHours());
  }

  /** Whether no job of the queue runs now. */
  boolean stops() {
    return spent() && spec.onExceeded() != OnExceeded.LowerPriority;
  }

  /** Whether jobs of the queue come after all others now. */
  boolean lowers() {
    return spent() && spec.onExceeded() == OnExceeded.LowerPriority;
  }

  /** Why jobs of the queue hold nothing. */
  Reason reason(String queue) {
    return Reason.of(
        "BudgetSpent",
        "%s Its jobs go on from their checkpoints at %s, or once spec.budget.gpuHours is higher."
            .formatted(state(queue), until));
  }

  /** Why jobs of the queue come after all others. */
  String lowered(String queue) {
    return "%s Until %s its jobs come after all others, or until spec.budget.gpuHours is higher."
        .formatted(state(queue), until);
  }

  private String state(String queue) {
    return "Queue %s has spent its budget of %s GPU-hours a %s."
        .formatted(queue, plain(spec.gpuHours()), spec.period().name().toLowerCase(Locale.ROOT));
  }

  private static String plain(double hours) {
    return hours == Math.rint(hours) ? Long.toString(Math.round(hours)) : Double.toString(hours);
  }
}
