package dev.kastor.operator.membership;

import dev.kastor.protocol.ReplicaState;
import java.time.Instant;

/**
 * What a replica said in its newest poll.
 *
 * @param state its words
 * @param seen when it last polled
 * @param brokenSince when it first reported a broken ring in its present generation; {@link
 *     Instant#MAX} otherwise
 * @param poll number of the newest poll, so that older ones that still wait can step back
 */
public record Replica(ReplicaState state, Instant seen, Instant brokenSince, long poll) {
  /** The replica after its first poll. */
  static Replica first(ReplicaState state, Instant now) {
    return new Replica(state, now, broken(state) ? now : Instant.MAX, 1);
  }

  /** The replica after another poll. */
  Replica next(ReplicaState newer, Instant now) {
    boolean stillBroken =
        broken(newer) && broken(state) && newer.generation() == state.generation();
    return new Replica(
        newer, now, stillBroken ? brokenSince : broken(newer) ? now : Instant.MAX, poll + 1);
  }

  /** Whether a newer poll says nothing that could lead to another generation. */
  boolean standsLike(ReplicaState newer) {
    return newer.phase() == state.phase()
        && newer.generation() == state.generation()
        && newer.mostExamples() == state.mostExamples()
        && newer.address().equals(state.address());
  }

  /** Whether it can be made a member: it listens. */
  boolean canJoin() {
    return state.phase() != ReplicaState.Phase.STARTING && !state.address().isBlank();
  }

  /** Whether it is or was in a ring. */
  boolean trained() {
    return state.generation() > 0;
  }

  private static boolean broken(ReplicaState state) {
    return state.phase() == ReplicaState.Phase.BROKEN;
  }
}
