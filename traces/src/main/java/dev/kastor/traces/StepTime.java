package dev.kastor.traces;

/**
 * Seconds of one optimizer step without accumulation.
 *
 * @param stepSeconds all of it; not a number where the job cannot run so
 * @param syncSeconds the part of it in which gradients are synchronised and nothing is computed
 */
public record StepTime(double stepSeconds, double syncSeconds) {
  /** The job does not run so, or it was never measured. */
  public static final StepTime UNKNOWN = new StepTime(Double.NaN, Double.NaN);

  public boolean isKnown() {
    return !Double.isNaN(stepSeconds);
  }

  /** Seconds of one pass that only accumulates. */
  public double passSeconds() {
    return stepSeconds - syncSeconds;
  }

  /** Seconds of a step with accumulation. */
  public double stepSeconds(int accumulationSteps) {
    return stepSeconds + accumulationSteps * passSeconds();
  }
}
