package dev.kastor.traces;

import dev.kastor.protocol.GradientStats;
import java.util.List;

/**
 * The gradient noise scale of a job over its progress: straight lines between given points.
 *
 * @param points by rising share of the work done, the first at 0
 */
public record NoiseCurve(List<Point> points) {
  /** A noise scale in examples at a share of the work in [0, 1]. */
  public record Point(double share, double noiseScale) {}

  public NoiseCurve {
    points = List.copyOf(points);
    if (points.isEmpty() || points.getFirst().share() != 0) {
      throw new IllegalArgumentException("a noise curve must begin at share 0");
    }
    double last = -1;
    for (Point point : points) {
      if (!(point.share() > last && point.share() <= 1 && point.noiseScale() > 0)) {
        throw new IllegalArgumentException(
            "noise curve point %s:%s must have a rising share up to 1 and a positive noise scale"
                .formatted(point.share(), point.noiseScale()));
      }
      last = point.share();
    }
  }

  /** The noise scale in examples at a share of the work done. */
  public double at(double share) {
    Point before = points.getFirst();
    for (Point after : points) {
      if (after.share() >= share && after.share() > before.share()) {
        double weight = (share - before.share()) / (after.share() - before.share());
        return before.noiseScale() + weight * (after.noiseScale() - before.noiseScale());
      }
      before = after;
    }
    return points.getLast().noiseScale();
  }

  /** Statistics of that noise scale for a job of this initial batch. */
  public GradientStats stats(double share, int initialBatch) {
    return new GradientStats(1, at(share) / initialBatch, initialBatch);
  }
}
