package dev.kastor.scheduler.whatif;

/** End of a replay that takes longer than somebody waits. */
public final class OverdueException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** An end with what was reached. */
  public OverdueException(String message) {
    super(message);
  }
}
