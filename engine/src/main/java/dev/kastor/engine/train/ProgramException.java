package dev.kastor.engine.train;

/** A program's parameters or data are unusable; trying again would not help. */
public final class ProgramException extends Exception {
  private static final long serialVersionUID = 1;

  public ProgramException(String message) {
    super(message);
  }

  public ProgramException(String message, Throwable cause) {
    super(message, cause);
  }
}
