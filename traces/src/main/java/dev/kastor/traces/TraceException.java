package dev.kastor.traces;

/** A trace file that cannot be read; the message names file, line and column. */
public final class TraceException extends Exception {
  private static final long serialVersionUID = 1L;

  public TraceException(String message) {
    super(message);
  }

  public TraceException(String message, Throwable cause) {
    super(message, cause);
  }
}
