package dev.kastor.operator.membership;

import dev.kastor.operator.start.StartMarks;
import dev.kastor.protocol.ReplicaState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a replica said in its newest poll.
 *
 * @param state its words
 * @param seen when it last polled
 * @param brokenSince when it first reported a broken ring in its present generation; {@link
 *     Instant#MAX} otherwise
 * @param poll number of the newest poll, so that older ones that still wait can step back
 * @param start times of its start as far as it is; null once that is over, and of one whose start
 *     another operator saw
 */
public record Replica(
    ReplicaState state, Instant seen, Instant brokenSince, long poll, @Nullable StartMarks start) {
  /** The replica after its first poll. */
  static Replica first(ReplicaState state, Instant now) {
    StartMarks start = state.generation() == 0 ? StartMarks.heard(now) : null;
    return new Replica(
        state, now, broken(state) ? now : Instant.MAX, 1, marked(start, state, 0, now));
  }

  /** The replica after another poll. */
  Replica next(ReplicaState newer, Instant now) {
    boolean stillBroken =
        broken(newer) && broken(state) && newer.generation() == state.generation();
    return new Replica(
        newer,
        now,
        stillBroken ? brokenSince : broken(newer) ? now : Instant.MAX,
        poll + 1,
        marked(start, newer, state.generation(), now));
  }

  /** The replica once a generation that has it is published. */
  Replica told(Instant now) {
    return start == null ? this : new Replica(state, seen, brokenSince, poll, start.told(now));
  }

  /** The replica whose start is over. */
  Replica started() {
    return new Replica(state, seen, brokenSince, poll, null);
  }

  private static @Nullable StartMarks marked(
      @Nullable StartMarks start, ReplicaState said, long generation, Instant now) {
    if (start == null) {
      return null;
    }
    return switch (said.phase()) {
      case STARTING, BROKEN -> start;
      case READY -> start.ready(now);
      case TRAINING -> said.generation() > generation ? start.joined(now) : start;
    };
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
