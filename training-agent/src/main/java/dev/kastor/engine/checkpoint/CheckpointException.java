package dev.kastor.engine.checkpoint;

import java.io.IOException;

/** Bytes that should hold a training state do not; the message says where and why. */
public final class CheckpointException extends IOException {
  private static final long serialVersionUID = 1;

  public CheckpointException(String message) {
    super(message);
  }
}
