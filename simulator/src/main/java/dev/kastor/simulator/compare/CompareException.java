package dev.kastor.simulator.compare;

/** Files that cannot be read or do not pair; the message says why. */
public final class CompareException extends Exception {
  private static final long serialVersionUID = 1;

  CompareException(String message) {
    super(message);
  }
}
