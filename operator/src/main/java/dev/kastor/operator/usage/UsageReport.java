package dev.kastor.operator.usage;

import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Report of usage by queue, namespace, user or family.
 *
 * @param by what the rows are
 * @param since first day, in UTC
 * @param until when it was made
 * @param rows one each, in order of their names
 */
public record UsageReport(By by, LocalDate since, Instant until, List<Row> rows) {
  /** What usage is added up by. */
  public enum By {
    QUEUE,
    NAMESPACE,
    USER,
    FAMILY;

    private String name(UsageRow row) {
      return switch (this) {
        case QUEUE -> row.when().queue();
        case NAMESPACE -> row.owner().namespace();
        case USER -> row.owner().user();
        case FAMILY -> row.owner().family();
      };
    }
  }

  /**
   * GPU-milliseconds of one queue, namespace, user or family, and their cost.
   *
   * @param name its name; empty for jobs that have none
   * @param costMicros what they cost, in millionths of the currency of the nodes' prices
   * @param unpriced those on nodes that have no price; the cost is of the others
   */
  public record Row(
      String name,
      long held,
      long useful,
      long inefficient,
      long starting,
      long rescaling,
      long failures,
      long unknown,
      long costMicros,
      long unpriced) {
    static Row of(String name, Usage usage) {
      return new Row(
          name,
          usage.held(),
          usage.useful(),
          usage.inefficient(),
          usage.starting(),
          usage.rescaling(),
          usage.failures(),
          usage.unknown(),
          usage.cost().micros(),
          Math.max(0, usage.held() - usage.cost().pricedMillis()));
    }
  }

  public UsageReport {
    rows = List.copyOf(rows);
  }

  /** The report of these rows from a day on. */
  public static UsageReport of(By by, LocalDate since, Instant until, List<UsageRow> usage) {
    Map<String, Usage> sums = new TreeMap<>();
    usage.stream()
        .filter(row -> !row.when().day().isBefore(since))
        .forEach(row -> sums.merge(by.name(row), row.usage(), Usage::plus));
    return new UsageReport(
        by,
        since,
        until,
        sums.entrySet().stream().map(sum -> Row.of(sum.getKey(), sum.getValue())).toList());
  }
}
