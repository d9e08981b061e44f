package dev.kastor.engine.placement;

/**
 * Something that computes, with memory of its own.
 *
 * @param process the process that has it
 * @param name tells it from others of the process, such as {@code cpu:0}
 */
public record Device(String process, String name) {
  public Device {
    if (process.isEmpty() || name.isEmpty() || process.contains("/") || name.contains("/")) {
      throw new IllegalArgumentException(
          "A device needs names without '/', not '%s' and '%s'.".formatted(process, name));
    }
  }

  /** Whether a {@linkplain dev.kastor.engine.graph.Node#at place} allows it. */
  boolean isIn(String place) {
    return place.isEmpty() || place.equals(process) || place.equals(toString());
  }

  @Override
  public String toString() {
    return process + "/" + name;
  }
}
