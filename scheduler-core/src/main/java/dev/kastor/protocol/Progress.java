package dev.kastor.protocol;

/**
 * How far a job is.
 *
 * @param step optimizer steps applied
 * @param scaleInvariantSteps the same in steps of the initial batch: each step adds its gain
 *     (AdaScale, ICML 2020)
 * @param totalScaleInvariantSteps the declared work in the same unit; 0 where nothing is declared
 * @param examples examples trained, counted once each
 * @param epoch full passes over the data set so far
 */
public record Progress(
    long step,
    double scaleInvariantSteps,
    double totalScaleInvariantSteps,
    long examples,
    long epoch) {
  public Progress {
    Check.atLeast("progress.step", step, 0);
    Check.nonNegative("progress.scaleInvariantSteps", scaleInvariantSteps);
    Check.nonNegative("progress.totalScaleInvariantSteps", totalScaleInvariantSteps);
    Check.atLeast("progress.examples", examples, 0);
    Check.atLeast("progress.epoch", epoch, 0);
  }

  /** Done share of the declared work in [0, 1]; 0 where nothing is declared. */
  public double fraction() {
    return totalScaleInvariantSteps > 0
        ? Math.min(1, scaleInvariantSteps / totalScaleInvariantSteps)
        : 0;
  }
}
