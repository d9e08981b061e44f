package dev.kastor.engine.train;

import java.io.IOException;

/**
 * Collective of one replica: how it sums vectors together with the other members of its generation.
 *
 * <p>It has no state of training: the members of a generation come to the same bits whatever was
 * summed before, so that a step that is taken again has the same result. One thread uses it.
 */
public interface Collective {
  /**
   * Sums of a new generation of at least two members, which all call it at once.
   *
   * @param port to the other members, good for this generation alone
   * @throws IOException if they do not come together; the next generation may
   */
  Sums over(CollectivePort port) throws IOException;

  /** Sums of one generation; every member calls the same in the same order. */
  interface Sums extends AutoCloseable {
    /** Most elements that are summed at once, at least 1 and the same on every member. */
    int capacity();

    /**
     * Replaces the elements {@code [from, to)} by their sums over all members, with the same bits
     * on every one. Elements outside stay as they are.
     *
     * @throws IOException if it failed; the members take the step again in a new generation
     */
    void allReduce(float[] data, int from, int to) throws IOException;

    /** Gives back what it has beside the connections of the port. */
    @Override
    default void close() {}
  }
}
