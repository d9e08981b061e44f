package dev.kastor.cli.metrics;

import dev.kastor.cli.terminal.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.TreeMap;

/** Table of the series of a job: the last value of each, its range, how many points there are. */
final class SeriesSummary {
  private static final double MOST_COUNT = 1e7;

  private SeriesSummary() {}

  static List<String> table(List<Point> points, int paper) {
    SequencedMap<String, List<Point>> series = new TreeMap<>();
    points.forEach(p -> series.computeIfAbsent(p.name(), name -> new ArrayList<>()).add(p));
    Table table =
        new Table("SERIES", "LAST", "STEP", "LEAST", "MOST", "POINTS").rightFrom(1).optional(5);
    series.forEach((name, of) -> {
      var range = of.stream().mapToDouble(Point::value).summaryStatistics();
      table.row(
          List.of(
              name,
              number(of.getLast().value()),
              Long.toString(of.getLast().step()),
              number(range.getMin()),
              number(range.getMax()),
              Integer.toString(of.size())));
    });
    return table.lines(paper);
  }

  /** Counts as they are, else four digits: learning rates and losses differ by powers of ten. */
  private static String number(double value) {
    boolean count = value == Math.rint(value) && Math.abs(value) < MOST_COUNT;
    return String.format(Locale.ROOT, count ? "%.0f" : "%.4g", value);
  }
}
