package dev.kastor.agent.trainer;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Failure of a warm start that would fail again, however often it is tried. */
final class WarmStartException extends IOException {
  private static final long serialVersionUID = 1;

  WarmStartException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
