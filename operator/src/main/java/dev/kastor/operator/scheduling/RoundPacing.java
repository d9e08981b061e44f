package dev.kastor.operator.scheduling;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * How long a round that somebody asked for waits for more to happen: the configured delay, but at
 * least half as long as the last round took, up to half a second: under load a third of the time is
 * left for the rest of the operator. Used by one thread.
 */
final class RoundPacing {
  /** However long a round took, nobody waits longer than this for the next to begin. */
  private static final Duration LONGEST = Duration.ofMillis(500);

  private final Duration delay;
  private final InstantSource clock;
  private Instant begun = Instant.EPOCH;
  private Instant ended = Instant.EPOCH;

  RoundPacing(Duration delay, InstantSource clock) {
    this.delay = delay;
    this.clock = clock;
  }

  void begins() {
    begun = clock.instant();
  }

  void ended() {
    ended = clock.instant();
  }

  /** The pause before the next round, when it is asked for now. */
  Duration pause() {
    Duration half = Duration.between(begun, ended).dividedBy(2);
    Duration rest = half.minus(Duration.between(ended, clock.instant()));
    Duration wanted = rest.compareTo(LONGEST) < 0 ? rest : LONGEST;
    return wanted.compareTo(delay) > 0 ? wanted : delay;
  }
}
