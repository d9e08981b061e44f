package dev.kastor.cli.terminal;

import org.jspecify.annotations.Nullable;

/** An end of the command with a message for its user and an exit status. */
public final class CliException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int exitCode;

  public CliException(int exitCode, String message) {
    this(exitCode, message, null);
  }

  public CliException(int exitCode, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  public int exitCode() {
    return exitCode;
  }
}
