package dev.kastor.engine.export;

/** A model cannot be written in a format; the message says why. */
public final class ExportException extends Exception {
  private static final long serialVersionUID = 1;

  public ExportException(String message) {
    super(message);
  }
}
