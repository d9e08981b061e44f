package dev.kastor.simulator.event;

import dev.kastor.simulator.replay.DeclaredWork;

/**
 * What a scheduler does not know, or knows wrongly.
 *
 * @param declaredWork what jobs say of their work
 * @param timingNoise standard deviation of reported step times, relative; what truly passes is
 *     exact, in [0, 0.5)
 * @param reports what happens to reports
 * @param stragglers nodes that are slower than the others
 */
public record Adversity(
    DeclaredWork declaredWork, double timingNoise, ReportFaults reports, Stragglers stragglers) {
  /** Jobs tell the truth, with 2 % of noise. */
  public static final Adversity USUAL =
      new Adversity(DeclaredWork.EXACT, 0.02, ReportFaults.NONE, Stragglers.NONE);

  public Adversity {
    if (!(timingNoise >= 0 && timingNoise < 0.5)) {
      throw new IllegalArgumentException(
          "timingNoise (%s) must be at least 0 and below 0.5".formatted(timingNoise));
    }
  }

  /** The same with other noise in reported step times. */
  public Adversity withTimingNoise(double relative) {
    return new Adversity(declaredWork, relative, reports, stragglers);
  }
}
