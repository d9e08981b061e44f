package dev.kastor.simulator.event;

/**
 * What nodes that were up and slots that jobs held have cost so far, in the currency of the nodes'
 * prices. Owned by one simulation.
 */
final class Spending {
  private static final double SECONDS_PER_HOUR = 3600;

  private final double[] spent;
  private final double[] perHour;
  private final double[] since;
  private double onNodes;
  private double nodesPerHour;
  private double nodesSince = Double.NaN;

  Spending(int jobs) {
    spent = new double[jobs];
    perHour = new double[jobs];
    since = new double[jobs];
  }

  /** From now on the nodes that are up cost this; what came before the first call is free. */
  void nodes(double costPerHour, double now) {
    if (!Double.isNaN(nodesSince)) {
      onNodes += nodesPerHour * (now - nodesSince) / SECONDS_PER_HOUR;
    }
    nodesPerHour = costPerHour;
    nodesSince = now;
  }

  /** From now on what a job holds costs this. */
  void job(int index, double costPerHour, double now) {
    spent[index] += perHour[index] * (now - since[index]) / SECONDS_PER_HOUR;
    perHour[index] = costPerHour;
    since[index] = now;
  }

  double ofJob(int index) {
    return spent[index];
  }

  double onNodes() {
    return onNodes;
  }
}
