package dev.kastor.simulator.event;

import java.time.Duration;

/**
 * How often a node fails and how long it is away; both times are exponential.
 *
 * @param meanTimeBetween mean time from a node's return to its next failure
 * @param meanTimeToRepair mean time until it is back
 */
public record NodeFailures(Duration meanTimeBetween, Duration meanTimeToRepair) {
  public NodeFailures {
    if (!meanTimeBetween.isPositive() || !meanTimeToRepair.isPositive()) {
      throw new IllegalArgumentException(
          "mean time between failures (%s) and mean time to repair (%s) must be positive"
              .formatted(meanTimeBetween, meanTimeToRepair));
    }
  }
}
