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
  /** That of a job that has not begun and has declared nothing. */
  public static final Progress NONE = new Progress(0, 0, 0, 0, 0);

  public Progress {
    Check.between("progress.step", step, 0, Check.MOST_COUNTED);
    Check.atMost("progress.scaleInvariantSteps", scaleInvariantSteps, Check.MOST_MEASURED);
    Check.atMost(
        "progress.totalScaleInvariantSteps", totalScaleInvariantSteps, Check.MOST_MEASURED);
    Check.between("progress.examples", examples, 0, Check.MOST_COUNTED);
    Check.between("progress.epoch", epoch, 0, Check.MOST_COUNTED);
  }

  /** Done share of the declared work in [0, 1]; 0 where nothing is declared. */
  public double fraction() {
    return totalScaleInvariantSteps > 0
        ? Math.min(1, scaleInvariantSteps / totalScaleInvariantSteps)
        : 0;
  }
}
