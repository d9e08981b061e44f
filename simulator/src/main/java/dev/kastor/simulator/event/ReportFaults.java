package dev.kastor.simulator.event;

import java.time.Duration;

/**
 * What happens to reports on their way to the scheduler.
 *
 * @param lost share that never arrives, in [0, 1)
 * @param late time that the others take
 */
public record ReportFaults(double lost, Duration late) {
  /** All arrive at once. */
  public static final ReportFaults NONE = new ReportFaults(0, Duration.ZERO);

  public ReportFaults {
    if (!(lost >= 0 && lost < 1)) {
      throw new IllegalArgumentException(
          "the share of lost reports must be at least 0 and below 1 but is " + lost);
    }
    if (late.isNegative()) {
      throw new IllegalArgumentException("reports cannot come early, by " + late);
    }
  }
}
