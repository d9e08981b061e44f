package dev.kastor.traces.fit;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.traces.Application;
import dev.kastor.traces.NoiseCurve;
import java.util.ArrayList;
import java.util.List;

/**
 * The gradient noise scale of a measured application over its progress: at each epoch the median
 * over global batches, then as few straight lines as stay within a tolerance of it.
 */
final class NoiseSamples {
  /** Relative; runs at different batches differ by far more. */
  private static final double TOLERANCE = 0.2;

  /** Of the largest batch: a scale where efficiency is 1 up to a hundredth at any batch. */
  private static final double MOST = 100;

  private NoiseSamples() {}

  static NoiseCurve curve(Application application) {
    double total = application.progressAt(application.epochs());
    List<NoiseCurve.Point> points = new ArrayList<>();
    for (int epoch = 0; epoch < application.epochs(); epoch++) {
      points.add(
          new NoiseCurve.Point(
              ApplicationFit.rounded(application.progressAt(epoch) / total),
              ApplicationFit.rounded(median(application, epoch))));
    }
    List<NoiseCurve.Point> kept = new ArrayList<>();
    kept.add(points.getFirst());
    thin(points, 0, points.size() - 1, kept);
    return new NoiseCurve(kept);
  }

  private static double median(Application application, int epoch) {
    BatchLimits limits = application.batchLimits(application.gpuTypes().getFirst());
    double most = MOST * limits.maxGlobalBatch();
    List<Double> scales = new ArrayList<>();
    for (int batch = limits.initialGlobalBatch(); batch <= limits.maxGlobalBatch(); batch *= 2) {
      double scale = application.gradient(batch, epoch).noiseScale();
      scales.add(Math.clamp(scale, 1, most));
    }
    scales.sort(null);
    return scales.get(scales.size() / 2);
  }

  /** Keeps the point furthest from the line between two others, and so on on either side of it. */
  private static void thin(
      List<NoiseCurve.Point> points, int first, int last, List<NoiseCurve.Point> kept) {
    if (last <= first) {
      return;
    }
    NoiseCurve.Point a = points.get(first);
    NoiseCurve.Point b = points.get(last);
    int furthest = -1;
    double worst = TOLERANCE;
    for (int i = first + 1; i < last; i++) {
      NoiseCurve.Point p = points.get(i);
      double weight = (p.share() - a.share()) / (b.share() - a.share());
      double line = a.noiseScale() + weight * (b.noiseScale() - a.noiseScale());
      double off = Math.abs(line - p.noiseScale()) / p.noiseScale();
      if (off > worst) {
        worst = off;
        furthest = i;
      }
    }
    if (furthest < 0) {
      kept.add(b);
    } else {
      thin(points, first, furthest, kept);
      thin(points, furthest, last, kept);
    }
  }
}
