package dev.kastor.engine.train;

import java.io.IOException;
import java.util.List;

/**
 * Selector of the examples that are trained: each step it judges positions of the endless sequence
 * of examples, one after another, until it has as many as the step needs.
 *
 * <p>All replicas choose for themselves and must choose the same: from its state, its arguments,
 * losses and {@link Draws} alone, with no clock and no number of replicas. What {@link #choose}
 * changes counts after {@link #commit} alone, so that a step that is taken again chooses the same.
 * One thread uses it.
 */
public interface ExampleSelector {
  /**
   * Sections of its state, always the same ones: live arrays, which a restore overwrites, and which
   * {@link #commit} alone changes. They are in checkpoints and are handed to replicas that join.
   */
  List<Section> state();

  /**
   * Number of examples that are trained when {@code judged} are judged, on average over data. Work
   * that is declared in epochs is counted by this number.
   */
  double trained(double judged);

  /**
   * The examples of the next step.
   *
   * @param cursor first position that no step before has judged
   * @param wanted examples of the step, at least 1
   * @param losses by the parameters before the step
   * @throws IOException if a loss cannot be had, as a replica died; the step is taken again
   */
  Choice choose(long cursor, int wanted, Losses losses) throws IOException;

  /** Keeps what the last choice changed, now that its step was applied. */
  void commit();

  /** Losses of examples by position, the same bits on all replicas. */
  @FunctionalInterface
  interface Losses {
    /**
     * The loss of an example, which may be no number.
     *
     * <p>Positions are asked for in ascending order, from the cursor on. Some that follow are
     * looked at along with the first, by all replicas together.
     */
    float at(long position) throws IOException;
  }

  /**
   * Examples of a step.
   *
   * @param positions those to train, ascending
   * @param cursor behind the last position that was judged, and trained or not
   */
  // An array on purpose: thousands of numbers, never compared.
  @SuppressWarnings("ArrayRecordComponent")
  record Choice(long[] positions, long cursor) {
    /**
     * Checks what a selector gave.
     *
     * @throws IllegalStateException if it is no choice of so many positions from the cursor on
     */
    public Choice check(long from, int wanted) {
      if (positions.length != wanted) {
        throw wrong("chose %d examples instead of %d".formatted(positions.length, wanted));
      }
      long next = from;
      for (long position : positions) {
        if (position < next) {
          throw wrong("chose position %d and may choose from %d on".formatted(position, next));
        }
        next = position + 1;
      }
      if (cursor < next) {
        throw wrong("puts the cursor to %d, before its last example".formatted(cursor));
      }
      return this;
    }

    private static IllegalStateException wrong(String what) {
      return new IllegalStateException("the selector of examples " + what);
    }
  }
}
