package dev.kastor.agent.ring;

import java.time.Duration;

/**
 * Time limits of a ring.
 *
 * @param silence longest time that a neighbour may send nothing, not even a ping, while we wait for
 *     it; a neighbour that computes sends pings
 * @param handshake longest time from a connection's start to its authentication
 * @param connect longest wait for both neighbours of a new ring
 */
public record RingLimits(Duration silence, Duration handshake, Duration connect) {
  /** 20 s of silence, 5 s for a handshake, 20 s to connect. */
  public static final RingLimits DEFAULT =
      new RingLimits(Duration.ofSeconds(20), Duration.ofSeconds(5), Duration.ofSeconds(20));
}
