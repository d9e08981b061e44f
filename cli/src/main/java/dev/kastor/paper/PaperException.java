package dev.kastor.paper;

import org.jspecify.annotations.Nullable;

/** Reason why a paper's claims cannot be measured here. */
public final class PaperException extends Exception {
  private static final long serialVersionUID = 1;

  public PaperException(String message) {
    this(message, null);
  }

  public PaperException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
