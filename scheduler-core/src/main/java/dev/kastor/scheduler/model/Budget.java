package dev.kastor.scheduler.model;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAdjusters;
import java.util.Locale;

/**
 * Budget of a queue: GPU-hours that its jobs may hold together in each period.
 *
 * @param gpuHours of a period; what is left of one is not carried over
 * @param period which begins at 00:00 UTC
 * @param whenSpent what becomes of its jobs once nothing is left
 */
public record Budget(double gpuHours, Period period, WhenSpent whenSpent) {
  /** Time for which a budget is. */
  public enum Period {
    DAY,
    /** From Monday. */
    WEEK,
    MONTH;

    /** First day of the period that a day is in. */
    public LocalDate begin(LocalDate day) {
      return switch (this) {
        case DAY -> day;
        case WEEK -> day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
        case MONTH -> day.withDayOfMonth(1);
      };
    }

    /** When the period after the one that begins on this day begins. */
    public Instant end(LocalDate begin) {
      LocalDate next =
          switch (this) {
            case DAY -> begin.plusDays(1);
            case WEEK -> begin.plusWeeks(1);
            case MONTH -> begin.plusMonths(1);
          };
      return next.atStartOfDay(ZoneOffset.UTC).toInstant();
    }
  }

  /** Consequence for the jobs of a queue whose budget is spent. */
  public enum WhenSpent {
    /** They stop at a checkpoint and wait for the next period. */
    STOP,
    /** They come after the jobs of all other queues. */
    LOWER_PRIORITY
  }

  public Budget {
    if (!(gpuHours >= 0 && gpuHours < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "a budget must be a number of GPU-hours of at least 0 but is " + gpuHours);
    }
  }

  /** Such as {@code 100 GPU-hours a week}. */
  @Override
  public String toString() {
    String hours =
        gpuHours == Math.rint(gpuHours)
            ? Long.toString(Math.round(gpuHours))
            : Double.toString(gpuHours);
    return "%s GPU-hours a %s".formatted(hours, period.name().toLowerCase(Locale.ROOT));
  }
}
