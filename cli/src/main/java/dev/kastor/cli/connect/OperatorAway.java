package dev.kastor.cli.connect;

import org.jspecify.annotations.Nullable;

/** The operator's page cannot be asked; the message says why and what to do. */
public final class OperatorAway extends Exception {
  private static final long serialVersionUID = 1;

  public OperatorAway(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
