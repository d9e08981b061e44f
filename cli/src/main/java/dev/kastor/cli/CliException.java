package dev.kastor.cli;

import org.jspecify.annotations.Nullable;

/** An end of the command with a message for its user and an exit status. */
final class CliException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int exitCode;

  CliException(int exitCode, String message) {
    this(exitCode, message, null);
  }

  CliException(int exitCode, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  int exitCode() {
    return exitCode;
  }
}
