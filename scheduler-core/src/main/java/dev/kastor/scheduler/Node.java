package dev.kastor.scheduler;

/**
 * A machine that can hold replicas.
 *
 * @param name unique in the cluster
 * @param gpuType type of its GPUs; {@code cpu} for a slot of processor cores
 * @param slots replicas it can hold for Kastor: its GPUs less those that others hold
 */
public record Node(String name, String gpuType, int slots) {
  public Node {
    if (slots < 0) {
      throw new IllegalArgumentException(
          "slots of node %s must not be negative but are %d".formatted(name, slots));
    }
  }
}
