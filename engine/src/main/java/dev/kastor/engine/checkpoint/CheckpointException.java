package dev.kastor.engine.checkpoint;

import java.io.IOException;

/** Bytes that should hold a training state do not; the message says where and why. */
public final class CheckpointException extends IOException {
  private static final long serialVersionUID = 1;

  private final boolean otherModel;

  public CheckpointException(String message) {
    this(message, false);
  }

  CheckpointException(String message, Exception cause) {
    super(message, cause);
    this.otherModel = false;
  }

  /**
   * @param otherModel whether they may hold a state, but not one of the model at hand
   */
  CheckpointException(String message, boolean otherModel) {
    super(message);
    this.otherModel = otherModel;
  }

  /** Whether the bytes may hold a state, but not one of the model at hand. */
  public boolean otherModel() {
    return otherModel;
  }
}
