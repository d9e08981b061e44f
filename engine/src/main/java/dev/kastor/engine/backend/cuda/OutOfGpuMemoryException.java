package dev.kastor.engine.backend.cuda;

/** A graph needs more memory than a GPU has left. */
public final class OutOfGpuMemoryException extends RuntimeException {
  private static final long serialVersionUID = 1;

  OutOfGpuMemoryException(String message) {
    super(message);
  }
}
