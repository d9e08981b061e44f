package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.NoiseCurve;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Collects the noise scales that the jobs of a family report; owned by the family.
 *
 * <p>Each bucket of progress holds a mean of logarithms: of all reports until there are {@value
 * #FULL}, then an exponential one, so that old reports fade. Logarithms, because noise scales of
 * one model span factors and not differences.
 */
final class NoiseBuckets {
  private static final int FULL = 8;
  private static final double LEAST_NOISE_SCALE = 1e-3;
  private static final double MOST_NOISE_SCALE = 1e9;

  private final double[] logs = new double[NoiseCurve.BUCKETS];
  private final int[] reports = new int[NoiseCurve.BUCKETS];
  private int initialBatch = 1;
  private @Nullable NoiseCurve curve;

  NoiseBuckets() {}

  /** What {@link #initialBatch} and {@link #buckets} said. */
  NoiseBuckets(int initialBatch, List<NoiseBucket> stored) {
    this.initialBatch = initialBatch;
    for (NoiseBucket bucket : stored) {
      add(bucket.index(), bounded(bucket.noiseScale()));
      reports[bucket.index()] = Math.min(bucket.reports(), FULL);
    }
  }

  /** M0 of the newest report. */
  int initialBatch() {
    return initialBatch;
  }

  void observe(double fraction, GradientStats gradient) {
    int bucket = Math.clamp((long) (fraction * NoiseCurve.BUCKETS), 0, NoiseCurve.BUCKETS - 1);
    add(bucket, bounded(gradient.noiseScale()));
    initialBatch = gradient.initialBatch();
  }

  /** A noise scale may be infinite while no signal is seen, or 0. */
  static double bounded(double noiseScale) {
    return Math.clamp(noiseScale, LEAST_NOISE_SCALE, MOST_NOISE_SCALE);
  }

  private void add(int bucket, double noiseScale) {
    reports[bucket] = Math.min(reports[bucket] + 1, FULL);
    logs[bucket] += (Math.log(noiseScale) - logs[bucket]) / reports[bucket];
    curve = null;
  }

  List<NoiseBucket> buckets() {
    List<NoiseBucket> kept = new ArrayList<>();
    for (int b = 0; b < reports.length; b++) {
      if (reports[b] > 0) {
        kept.add(new NoiseBucket(b, Math.exp(logs[b]), reports[b]));
      }
    }
    return kept;
  }

  /** Empty before the first report. */
  Optional<NoiseCurve> curve() {
    int seen = (int) Arrays.stream(reports).filter(count -> count > 0).count();
    if (seen > 0 && curve == null) {
      curve = new NoiseCurve(filled(), seen, initialBatch);
    }
    return Optional.ofNullable(curve);
  }

  private double[] filled() {
    double[] all = logs.clone();
    int last = -1;
    for (int b = 0; b < all.length; b++) {
      if (reports[b] == 0) {
        continue;
      }
      for (int between = last + 1; between < b; between++) {
        all[between] =
            last < 0 ? all[b] : all[last] + (all[b] - all[last]) * (between - last) / (b - last);
      }
      last = b;
    }
    Arrays.fill(all, last + 1, all.length, all[last]);
    return all;
  }
}
