package dev.kastor.simulator.event;

import java.time.Duration;

/**
 * A planned change of the cluster's size.
 *
 * @param at time since the start of the replay
 * @param gpuType the group of nodes that changes, as the cluster names it
 * @param nodes how many nodes the group has from then on: the last ones leave first
 */
public record Resize(Duration at, String gpuType, int nodes) {
  public Resize {
    if (at.isNegative() || nodes < 0) {
      throw new IllegalArgumentException(
          "a resize needs a time (%s) and a number of nodes (%d) that are not negative"
              .formatted(at, nodes));
    }
  }
}
