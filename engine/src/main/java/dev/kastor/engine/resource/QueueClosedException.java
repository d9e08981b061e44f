package dev.kastor.engine.resource;

/** A queue was closed: nothing can be added, or nothing is left to take. */
public final class QueueClosedException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  QueueClosedException(String message) {
    super(message);
  }
}
