package dev.kastor.simulator.event;

import java.time.Duration;

/**
 * Costs of a rescale of a running job that keeps its GPU type and a replica on one of its nodes.
 *
 * @param pause of all its replicas
 * @param start time in which replicas that are added start, while those that stay train on
 */
public record LiveRescale(Duration pause, Duration start) {
  /** Kastor's agents were measured to need less than 2 s; added replicas train at once. */
  public static final LiveRescale USUAL = withoutStart(Duration.ofSeconds(2));

  public LiveRescale {
    if (pause.isNegative() || start.isNegative()) {
      throw new IllegalArgumentException(
          "the pause (%s) and the start (%s) of a live rescale must not be negative"
              .formatted(pause, start));
    }
  }

  /** Replicas that are added train at once. */
  public static LiveRescale withoutStart(Duration pause) {
    return new LiveRescale(pause, Duration.ZERO);
  }
}
