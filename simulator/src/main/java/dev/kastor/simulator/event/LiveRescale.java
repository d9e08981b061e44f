package dev.kastor.simulator.event;

import java.time.Duration;
import java.util.Optional;

/**
 * Costs of a rescale of a running job that keeps its GPU type and a replica on one of its nodes.
 *
 * @param pause of all its replicas
 * @param start time in which replicas that are added start, while those that stay train on; empty
 *     where that is as long as a restart of the application
 */
public record LiveRescale(Duration pause, Optional<Duration> start) {
  /** Kastor's agents were measured to need less than 2 s; added replicas train at once. */
  public static final LiveRescale USUAL = withoutStart(Duration.ofSeconds(2));

  public LiveRescale {
    if (pause.isNegative() || start.filter(Duration::isNegative).isPresent()) {
      throw new IllegalArgumentException(
          "the pause (%s) and the start (%s) of a live rescale must not be negative"
              .formatted(pause, start.map(Duration::toString).orElse("as of a restart")));
    }
  }

  /** Replicas that are added train at once. */
  public static LiveRescale withoutStart(Duration pause) {
    return new LiveRescale(pause, Optional.of(Duration.ZERO));
  }

  /** Seconds in which a replica starts that is added to a job. */
  double startSeconds(double restartSeconds) {
    return start.map(VirtualClock::seconds).orElse(restartSeconds);
  }
}
