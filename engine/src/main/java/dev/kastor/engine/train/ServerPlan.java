package dev.kastor.engine.train;

import dev.kastor.training.ServerChoice;

/**
 * Parameter servers of a job: how many, and how its workers take steps with them.
 *
 * @param servers processes over which parameters and the optimizer's vectors are sharded, 1 to
 *     {@link ServerChoice#MOST}
 * @param asynchronous whether each share of a worker is an update of its own, applied as it comes
 * @param backup workers more than a step needs; 0 where {@code asynchronous}
 * @param mostStaleness updates that may come between a worker's reading of the parameters and its
 *     update; 0 for no limit, and where steps are synchronous
 */
public record ServerPlan(int servers, boolean asynchronous, int backup, int mostStaleness) {
  public ServerPlan {
    if (servers < 1 || servers > ServerChoice.MOST) {
      throw new IllegalArgumentException(
          "servers must be from 1 to %d but is %d".formatted(ServerChoice.MOST, servers));
    }
    if (backup < 0 || mostStaleness < 0) {
      throw new IllegalArgumentException(
          "backup (%d) and mostStaleness (%d) must not be below 0"
              .formatted(backup, mostStaleness));
    }
    if (asynchronous && backup > 0) {
      throw new IllegalArgumentException(
          "backup (%d) is for mode steps: without steps no worker waits for another. Take it out."
              .formatted(backup));
    }
    if (!asynchronous && mostStaleness > 0) {
      throw new IllegalArgumentException(
          "mostStaleness (%d) is for mode asynchronous: in steps nothing is stale. Take it out."
              .formatted(mostStaleness));
    }
  }

  /**
   * Shares of a step's global batch.
   *
   * @param workers of the generation
   */
  public int shares(int workers) {
    return new ServerChoice(servers, asynchronous, backup).shares(workers);
  }
}
