package dev.kastor.cli.metrics;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Time of the newest point of each series that was taken, in ms since 1970. */
final class NewestPoints {
  private final Map<String, Long> newest = new HashMap<>();

  /** Takes a point. */
  void take(Point point) {
    newest.merge(point.name(), point.epochMillis(), Math::max);
  }

  /** The points that are newer than those of their series which were taken. */
  List<Point> newer(List<Point> points) {
    return points.stream()
        .filter(p -> p.epochMillis() > newest.getOrDefault(p.name(), Long.MIN_VALUE))
        .toList();
  }

  /** Takes the points that are newer, and tells which. */
  List<Point> take(List<Point> points) {
    List<Point> newer = newer(points);
    newer.forEach(this::take);
    return newer;
  }
}
