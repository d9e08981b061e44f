package dev.kastor.agent.ring;

import java.time.Duration;

/**
 * Time limits of a ring.
 *
 * @param silence longest time that a neighbour may send nothing, not even a ping, while we wait for
 *     it; a neighbour that computes sends pings
 * @param hello longest time from a connection's start to what the connector says first, which it
 *     says unasked
 * @param handshake longest time from a connection's start to its authentication
 * @param connect longest wait for both neighbours of a new ring
 */
public record RingLimits(Duration silence, Duration hello, Duration handshake, Duration connect) {
  /** 20 s of silence, 1 s for a hello, 5 s for a handshake, 20 s to connect. */
  public static final RingLimits DEFAULT =
      new RingLimits(
          Duration.ofSeconds(20),
          Duration.ofSeconds(1),
          Duration.ofSeconds(5),
          Duration.ofSeconds(20));
}
