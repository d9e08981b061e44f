package dev.kastor.agent.ring;

/**
 * Exchange of one step's gradients between the members of a ring, after which all hold the same.
 *
 * <p>Until {@link #finish} nobody else may use the ring.
 */
public interface StepExchange extends AutoCloseable {
  /** From this element on, the gradient holds our own share; told again and again, down to 0. */
  void ready(int from);

  /**
   * Returns once the whole gradient is the sum over all members.
   *
   * @throws RingBrokenException if it will never be, which others may not know yet: the caller
   *     closes the ring
   */
  void finish() throws RingBrokenException;

  /** Keeps what the exchange has changed beside the gradient, now that its step was applied. */
  default void commit() {}

  /** Ends an exchange that was not finished, for instance as our own pass failed. */
  @Override
  void close();
}
