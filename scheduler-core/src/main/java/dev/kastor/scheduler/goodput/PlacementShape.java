package dev.kastor.scheduler.goodput;

/**
 * All of a placement that throughput depends on.
 *
 * @param nodes distinct nodes, at least 1
 * @param replicas replicas, at least {@code nodes}
 * @param gpuType type of the GPUs; empty where there is only one
 */
public record PlacementShape(int nodes, int replicas, String gpuType) {
  public PlacementShape {
    if (nodes < 1 || replicas < nodes) {
      throw new IllegalArgumentException(
          "a placement needs at least one node and a replica on each, not %d nodes and %d replicas"
              .formatted(nodes, replicas));
    }
  }
}
