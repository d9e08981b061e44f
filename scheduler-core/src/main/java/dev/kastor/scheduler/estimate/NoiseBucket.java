package dev.kastor.scheduler.estimate;

import dev.kastor.scheduler.goodput.NoiseCurve;

/**
 * The noise scale that a family met in one share of its work.
 *
 * @param index of the share, from 0 to {@link NoiseCurve#BUCKETS} - 1
 * @param noiseScale in examples
 * @param reports that it was learnt from, at least 1
 */
public record NoiseBucket(int index, double noiseScale, int reports) {
  public NoiseBucket {
    if (index < 0 || index >= NoiseCurve.BUCKETS) {
      throw new IllegalArgumentException(
          "noise.index must be from 0 to %d but is %d".formatted(NoiseCurve.BUCKETS - 1, index));
    }
    if (!(noiseScale > 0) || Double.isInfinite(noiseScale)) {
      throw new IllegalArgumentException(
          "noise.noiseScale must be positive and finite but is " + noiseScale);
    }
    if (reports < 1) {
      throw new IllegalArgumentException("noise.reports must be at least 1 but is " + reports);
    }
  }
}
