package dev.kastor.operator.history;

import dev.kastor.protocol.Scalars;
import dev.kastor.protocol.TelemetryReport;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Series of what a job's script logs, one for each name: thinned out together, a value that is
 * logged once an epoch would be lost among those of every step.
 *
 * <p>Where there are more names than there is space for, those that came first stay. Not
 * thread-safe.
 */
final class ScalarSeries {
  /** Most points of one name. */
  static final int MOST_POINTS = 500;

  private final SequencedMap<String, BoundedSeries<ScalarPoint>> series = new LinkedHashMap<>();

  /** Takes in what a report tells; from now on at most so many points of all names are kept. */
  void add(TelemetryReport report, Instant at, int most) {
    int names = Math.min(Scalars.MOST, most / BoundedSeries.LEAST);
    while (series.size() > names) {
      series.pollLastEntry();
    }
    report
        .scalarsOrNone()
        .forEach((name, value) -> {
          if (series.size() < names || series.containsKey(name)) {
            series
                .computeIfAbsent(name, first -> new BoundedSeries<>(MOST_POINTS))
                .add(new ScalarPoint(at.toEpochMilli(), report.progress().step(), value));
          }
        });
    series.values().forEach(each -> each.bound(most / series.size()));
  }

  /** Points of each name, oldest first; by name in order. */
  SequencedMap<String, List<ScalarPoint>> points() {
    SequencedMap<String, List<ScalarPoint>> points = new TreeMap<>();
    series.forEach((name, each) -> points.put(name, each.points()));
    return Collections.unmodifiableSequencedMap(points);
  }
}
