package dev.kastor.scheduler.advice;

/**
 * Nodes of one kind as they are bought.
 *
 * @param gpuType type of their GPUs
 * @param slots of each
 * @param pricePerHour of each; 0 if not known
 */
public record NodeType(String gpuType, int slots, double pricePerHour) {
  public NodeType {
    if (slots < 1) {
      throw new IllegalArgumentException(
          "slots of a node of type '%s' must be at least 1 but are %d".formatted(gpuType, slots));
    }
    if (!(pricePerHour >= 0 && pricePerHour < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "pricePerHour of type '%s' must be a number of at least 0 but is %s"
              .formatted(gpuType, pricePerHour));
    }
  }
}
