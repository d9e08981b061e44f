package dev.kastor.simulator.event;

import java.time.Duration;
import java.util.Optional;

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

  /** Time until the provider has another node in the place of one that it took away. */
  private static final Duration REPLACED_AFTER = Duration.ofMinutes(10);

  /**
   * How preemptible nodes come and go: taken away so often in a day, replaced after ten minutes on
   * average; empty if they never are.
   */
  public static Optional<NodeFailures> preemptions(double perDay) {
    return perDay > 0
        ? Optional.of(
            new NodeFailures(Duration.ofNanos(Math.round(86_400e9 / perDay)), REPLACED_AFTER))
        : Optional.empty();
  }

  /** Failures for either reason, each followed by the mean time of both until the node is back. */
  NodeFailures and(NodeFailures other) {
    double often = 1 / VirtualClock.seconds(meanTimeBetween);
    double otherOften = 1 / VirtualClock.seconds(other.meanTimeBetween);
    double away =
        (often * VirtualClock.seconds(meanTimeToRepair)
                + otherOften * VirtualClock.seconds(other.meanTimeToRepair))
            / (often + otherOften);
    return new NodeFailures(
        VirtualClock.duration(1 / (often + otherOften)), VirtualClock.duration(away));
  }
}
