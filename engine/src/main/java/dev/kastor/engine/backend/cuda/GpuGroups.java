package dev.kastor.engine.backend.cuda;

import java.util.function.BooleanSupplier;

/** What lets a GPU of this process sum with those of others. */
public interface GpuGroups {
  /** What the members of one group must have in common, made by one of them; 128 bytes. */
  byte[] newId();

  /**
   * Joins a group, together with all its other members.
   *
   * @param id from one of them
   * @param abandoned polled while waiting; true gives up
   * @throws IllegalStateException if there is no such group in the end, and why
   */
  Group join(byte[] id, int rank, int size, BooleanSupplier abandoned);

  /** As a member of a group. One thread uses it at a time. */
  interface Group extends AutoCloseable {
    /** Most elements that are summed at once. */
    int capacity();

    /**
     * Replaces the elements {@code [from, to)} by their sums over all members, with the same bits
     * on every one; collective.
     *
     * @param abandoned polled while waiting; true gives up
     * @throws IllegalStateException if it failed; the group is of no use then
     */
    void sum(float[] data, int from, int to, BooleanSupplier abandoned);

    @Override
    void close();
  }
}
