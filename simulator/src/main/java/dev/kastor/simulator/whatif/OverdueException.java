package dev.kastor.simulator.whatif;

/** End of a replay that takes longer than somebody waits. */
public final class OverdueException extends RuntimeException {
  private static final long serialVersionUID = 1;

  OverdueException(String message) {
    super(message);
  }
}
