package dev.kastor.scheduler.goodput;

import dev.kastor.protocol.GradientStats;
import java.util.Arrays;

/**
 * The gradient noise scale over the course of a job's work, as other jobs of its family met it;
 * immutable.
 *
 * <p>Between the middles of its {@value #BUCKETS} buckets the logarithm is interpolated linearly,
 * before the first and after the last bucket that was seen it stays the same.
 */
public final class NoiseCurve {
  /** Equal shares of the work for each of which one noise scale is kept. */
  public static final int BUCKETS = 64;

  private final double[] logNoiseScale;
  private final int seen;
  private final int initialBatch;

  /**
   * A curve.
   *
   * @param logNoiseScale by bucket, with none missing; not copied
   * @param seen buckets that were observed and not interpolated
   * @param initialBatch M0 of the answers
   */
  public NoiseCurve(double[] logNoiseScale, int seen, int initialBatch) {
    this.logNoiseScale = logNoiseScale;
    this.seen = seen;
    this.initialBatch = initialBatch;
  }

  /** Noise scale in examples at a progress fraction, which is clamped to [0, 1]. */
  public double noiseScale(double fraction) {
    double at = Math.clamp(fraction, 0, 1) * BUCKETS - 0.5;
    int below = Math.clamp((long) Math.floor(at), 0, BUCKETS - 1);
    int above = Math.min(below + 1, BUCKETS - 1);
    double share = Math.clamp(at - below, 0, 1);
    return Math.exp(logNoiseScale[below] + share * (logNoiseScale[above] - logNoiseScale[below]));
  }

  /**
   * Statistical efficiency of a global batch at a progress fraction: {@code (phi + M0) / (phi + M)}
   * for the noise scale phi (Pollux, OSDI 2021, section 3.1). Allocates nothing.
   */
  public double efficiency(double fraction, double globalBatch) {
    double noiseScale = noiseScale(fraction);
    return (noiseScale + initialBatch) / (noiseScale + globalBatch);
  }

  /** Noise statistics at a progress fraction; the squared norm is taken as 1. */
  public GradientStats at(double fraction) {
    return new GradientStats(1, noiseScale(fraction) / initialBatch, initialBatch);
  }

  /** Natural logarithms of the noise scale in examples, by bucket. */
  public double[] logNoiseScale() {
    return logNoiseScale.clone();
  }

  /** Buckets that were observed and not interpolated. */
  public int seen() {
    return seen;
  }

  /** M0 of the answers. */
  public int initialBatch() {
    return initialBatch;
  }

  /** Share of the work in [0, 1] for which the noise was observed. */
  public double coverage() {
    return (double) seen / BUCKETS;
  }

  /** The same curve for a job that starts from another M0. */
  public NoiseCurve withInitialBatch(int other) {
    return other == initialBatch ? this : new NoiseCurve(logNoiseScale, seen, other);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof NoiseCurve curve
        && curve.initialBatch == initialBatch
        && curve.seen == seen
        && Arrays.equals(curve.logNoiseScale, logNoiseScale);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(logNoiseScale) + initialBatch;
  }

  @Override
  public String toString() {
    return "NoiseCurve[%.4g..%.4g examples, %d of %d seen]"
        .formatted(noiseScale(0), noiseScale(1), seen, BUCKETS);
  }
}
