package dev.kastor.scheduler.model;

/**
 * A machine whose slots hold replicas.
 *
 * @param name unique in the cluster
 * @param gpuType type of its GPUs; {@code cpu} for a slot of processor cores
 * @param slots slots it has for Kastor: its GPUs less those that others hold
 * @param devices GPUs or cores that compute for these slots: fewer than there are slots where
 *     several slots share one; there a further replica adds no computing
 * @param rack nodes of one rack reach each other faster than others; empty if not known
 * @param preemptible it may be taken away at any time
 * @param pricePerHour what the whole node costs in an hour, in any one currency; 0 if not known
 * @param slowdown how many times longer steps take on it than on other nodes of its type, as far as
 *     reports tell; 1 where they tell nothing
 */
public record Node(
    String name,
    String gpuType,
    int slots,
    int devices,
    String rack,
    boolean preemptible,
    double pricePerHour,
    double slowdown) {
  public Node {
    if (slots < 0) {
      throw new IllegalArgumentException(
          "slots of node %s must not be negative but are %d".formatted(name, slots));
    }
    if (devices > slots || (devices < 1 && slots > 0)) {
      throw new IllegalArgumentException(
          "devices of node %s must be 1 to %d, its slots, but are %d"
              .formatted(name, slots, devices));
    }
    if (!(pricePerHour >= 0 && pricePerHour < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "pricePerHour of node %s must be a number of at least 0 but is %s"
              .formatted(name, pricePerHour));
    }
    if (!(slowdown >= 1 && slowdown < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "slowdown of node %s must be a number of at least 1 but is %s".formatted(name, slowdown));
    }
  }

  /** Replicas of so many slots that it can hold. */
  public int replicas(int slotsPerReplica) {
    return slots / slotsPerReplica;
  }

  /** A node that is as fast as others of its type, with a device for each slot. */
  public Node(
      String name,
      String gpuType,
      int slots,
      String rack,
      boolean preemptible,
      double pricePerHour) {
    this(name, gpuType, slots, slots, rack, preemptible, pricePerHour, 1);
  }

  /** The same node where steps take so many times longer than on others of its type. */
  public Node withSlowdown(double times) {
    return times == slowdown
        ? this
        : new Node(name, gpuType, slots, devices, rack, preemptible, pricePerHour, times);
  }

  /** The same node, where so many slots share each device. */
  public Node withSharing(double slotsPerDevice) {
    int fewer = Math.clamp(Math.round(slots / slotsPerDevice), Math.min(1, slots), slots);
    return new Node(name, gpuType, slots, fewer, rack, preemptible, pricePerHour, slowdown);
  }

  /** A node of which nothing is known but what it holds. */
  public Node(String name, String gpuType, int slots) {
    this(name, gpuType, slots, "", false, 0);
  }
}
