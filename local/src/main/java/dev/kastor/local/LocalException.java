package dev.kastor.local;

/** Why local mode cannot do what was asked; the message says what to do about it. */
public final class LocalException extends Exception {
  private static final long serialVersionUID = 1;

  public LocalException(String message) {
    super(message);
  }
}
