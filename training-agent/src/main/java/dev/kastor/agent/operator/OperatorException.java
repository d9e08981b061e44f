package dev.kastor.agent.operator;

import java.io.IOException;

/** The operator answered with an error. */
public final class OperatorException extends IOException {
  private static final long serialVersionUID = 1;

  private final int status;

  public OperatorException(int status, String message) {
    super(message);
    this.status = status;
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }

  /** Whether the same request is refused again: its content is at fault, not the moment. */
  public boolean refused() {
    return status == 400 || status == 413;
  }
}
