package dev.kastor.simulator.sweep;

/** A sweep that cannot go on where it stopped; the message says what to do. */
public final class SweepException extends Exception {
  private static final long serialVersionUID = 1;

  SweepException(String message) {
    super(message);
  }
}
