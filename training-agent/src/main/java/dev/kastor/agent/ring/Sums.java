package dev.kastor.agent.ring;

/**
 * How the members of a ring sum vectors. Collective: every member calls the same in the same order.
 */
public interface Sums extends AutoCloseable {
  /** Most elements that are summed at once, the same on every member. */
  int capacity();

  /**
   * Replaces the elements {@code [from, to)} by their sums over all members, with the same bits on
   * every one.
   *
   * @throws RingBrokenException if it failed; the ring is closed then
   */
  void allReduce(float[] data, int from, int to) throws RingBrokenException;

  /** Gives back what it has; the ring stays as it is. */
  @Override
  default void close() {}

  /** Sums over the connections of a ring. */
  record RingSums(Ring ring) implements Sums {
    /** 1 MiB: what a link of 10 Gbit/s carries in a millisecond. */
    static final int BUCKET_FLOATS = 1 << 18;

    @Override
    public int capacity() {
      return BUCKET_FLOATS;
    }

    @Override
    public void allReduce(float[] data, int from, int to) throws RingBrokenException {
      ring.allReduce(data, from, to);
    }
  }
}
