package dev.kastor.operator.pods;

import java.util.Locale;

/** How a replica failed, as far as its pod tells. */
public enum FailureKind {
  /** It said that no restart helps. */
  PROGRAM,
  /** It ended with an exit status. */
  EXITED,
  /** A signal ended it, that of the memory limit included. */
  KILLED,
  /** Its container left no exit status, such as after an eviction. */
  GONE;

  private static final int FIRST_SIGNAL = 128;

  /** How a failed pod failed. */
  public static FailureKind of(PodView pod) {
    if (pod.failedPermanently()) {
      return PROGRAM;
    }
    if (pod.exitCode() == 0) {
      return GONE;
    }
    return pod.exitCode() > FIRST_SIGNAL ? KILLED : EXITED;
  }

  /** As the metrics call it, such as {@code Killed}. */
  public String label() {
    return name().charAt(0) + name().substring(1).toLowerCase(Locale.ROOT);
  }
}
