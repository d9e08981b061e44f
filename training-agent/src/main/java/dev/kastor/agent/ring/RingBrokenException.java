package dev.kastor.agent.ring;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A neighbour in the ring is gone, silent or not speaking the protocol; a new ring is needed. */
public final class RingBrokenException extends IOException {
  private static final long serialVersionUID = 1;

  public RingBrokenException(String message) {
    super(message);
  }

  public RingBrokenException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
