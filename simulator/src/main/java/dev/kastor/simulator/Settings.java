package dev.kastor.simulator;

import java.time.Duration;

/**
 * The simulated cluster and its costs.
 *
 * @param nodes machines
 * @param slotsPerNode replicas each can hold
 * @param round time between decisions; arrivals and completions are decided on at once
 * @param startCost pause before a job trains that did not run
 * @param rescaleCost pause of a running job at each change of its allocation
 * @param timingNoise standard deviation of reported step times, relative; what truly passes is
 *     exact
 * @param limit virtual time after which a replay is given up
 */
public record Settings(
    int nodes,
    int slotsPerNode,
    Duration round,
    Duration startCost,
    Duration rescaleCost,
    double timingNoise,
    Duration limit) {
  public Settings {
    if (nodes < 1 || slotsPerNode < 1) {
      throw new IllegalArgumentException(
          "nodes (%d) and slotsPerNode (%d) must be at least 1".formatted(nodes, slotsPerNode));
    }
    if (!round.isPositive() || startCost.isNegative() || rescaleCost.isNegative()) {
      throw new IllegalArgumentException(
          "round (%s) must be above 0, startCost (%s) and rescaleCost (%s) not below"
              .formatted(round, startCost, rescaleCost));
    }
    if (!(timingNoise >= 0 && timingNoise < 0.5)) {
      throw new IllegalArgumentException(
          "timingNoise (%s) must be at least 0 and below 0.5".formatted(timingNoise));
    }
  }

  /** Four nodes of four slots, a round a minute, 10 s to start, 2 s to rescale, 2 % noise. */
  public static Settings defaults() {
    return new Settings(
        4,
        4,
        Duration.ofSeconds(60),
        Duration.ofSeconds(10),
        Duration.ofSeconds(2),
        0.02,
        Duration.ofDays(60));
  }

  /** The same on another cluster. */
  public Settings withCluster(int nodes, int slotsPerNode) {
    return new Settings(nodes, slotsPerNode, round, startCost, rescaleCost, timingNoise, limit);
  }

  /** The same with another round. */
  public Settings withRound(Duration other) {
    return new Settings(nodes, slotsPerNode, other, startCost, rescaleCost, timingNoise, limit);
  }

  /** The same with another pause for rescaling. */
  public Settings withRescaleCost(Duration cost) {
    return new Settings(nodes, slotsPerNode, round, startCost, cost, timingNoise, limit);
  }
}
