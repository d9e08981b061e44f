package dev.kastor.engine.placement;

/**
 * Device that computes nodes, with memory of its own.
 *
 * @param name tells it from others, such as {@code cpu:0}
 */
public record Device(String name) {
  public Device {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("A device needs a name.");
    }
  }

  /** Whether a {@linkplain dev.kastor.engine.graph.Node#at place} allows it. */
  boolean isAt(String place) {
    return place.isEmpty() || place.equals(name);
  }

  @Override
  public String toString() {
    return name;
  }
}
