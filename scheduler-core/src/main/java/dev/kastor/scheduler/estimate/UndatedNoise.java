package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.NoiseCurve;
import java.util.ArrayList;
import java.util.List;

/**
 * Noise statistics of a job of which nobody knows how much work it is: when it ends, it is known at
 * which share of the work each of them was. Owned by its learner.
 */
final class UndatedNoise {
  private static final int MOST = 2 * NoiseCurve.BUCKETS;

  /**
   * Statistics and when they held.
   *
   * @param steps scale-invariant steps that were done
   * @param gradient statistics
   */
  record Sample(double steps, GradientStats gradient) {}

  private final List<Sample> samples = new ArrayList<>();
  private double leastGap;

  /** Keeps them if they are not too close to the last; all are thinned out where they get many. */
  void add(double steps, GradientStats gradient) {
    if (!samples.isEmpty() && steps < samples.getLast().steps() + leastGap) {
      return;
    }
    samples.add(new Sample(steps, gradient));
    if (samples.size() > MOST) {
      leastGap = 2 * (steps - samples.getFirst().steps()) / MOST;
      List<Sample> all = List.copyOf(samples);
      samples.clear();
      all.forEach(sample -> add(sample.steps(), sample.gradient()));
    }
  }

  /** All that were kept, and none from then on. */
  List<Sample> take() {
    List<Sample> taken = List.copyOf(samples);
    samples.clear();
    return taken;
  }
}
