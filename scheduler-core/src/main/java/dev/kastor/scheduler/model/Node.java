package dev.kastor.scheduler.model;

/**
 * A machine whose slots hold replicas.
 *
 * @param name unique in the cluster
 * @param gpuType type of its GPUs; {@code cpu} for a slot of processor cores
 * @param slots slots it has for Kastor: its GPUs less those that others hold
 * @param rack nodes of one rack reach each other faster than others; empty if not known
 * @param preemptible it may be taken away at any time
 * @param pricePerHour what the whole node costs in an hour, in any one currency; 0 if not known
 */
public record Node(
    String name, String gpuType, int slots, String rack, boolean preemptible, double pricePerHour) {
  public Node {
    if (slots < 0) {
      throw new IllegalArgumentException(
          "slots of node %s must not be negative but are %d".formatted(name, slots));
    }
    if (!(pricePerHour >= 0 && pricePerHour < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "pricePerHour of node %s must be a number of at least 0 but is %s"
              .formatted(name, pricePerHour));
    }
  }

  /** Replicas of so many slots that it can hold. */
  public int replicas(int slotsPerReplica) {
    return slots / slotsPerReplica;
  }

  /** A node of which nothing is known but what it holds. */
  public Node(String name, String gpuType, int slots) {
    this(name, gpuType, slots, "", false, 0);
  }
}
