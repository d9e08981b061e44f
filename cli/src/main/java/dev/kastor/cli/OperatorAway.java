package dev.kastor.cli;

import org.jspecify.annotations.Nullable;

/** The operator's page cannot be asked; the message says why and what to do. */
final class OperatorAway extends Exception {
  private static final long serialVersionUID = 1;

  OperatorAway(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
