package dev.kastor.agent.trainer;

import java.io.IOException;

/** Difference between the states of replicas that is not repaired, the same on all members. */
final class DriftException extends IOException {
  private static final long serialVersionUID = 1;

  DriftException(String message) {
    super(message);
  }
}
