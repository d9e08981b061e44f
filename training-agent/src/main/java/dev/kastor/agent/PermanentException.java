package dev.kastor.agent;

/** Trying again would fail again: the job itself is at fault. */
final class PermanentException extends Exception {
  private static final long serialVersionUID = 1;

  PermanentException(String message) {
    super(message);
  }

  PermanentException(String message, Throwable cause) {
    super(message, cause);
  }
}
