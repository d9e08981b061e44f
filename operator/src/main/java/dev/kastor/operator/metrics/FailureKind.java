package dev.kastor.operator.metrics;

import java.util.Locale;

/** Kinds of failures of replicas, as far as their pods tell. */
public enum FailureKind {
  /** It said that no restart helps. */
  PROGRAM,
  /** It ended with an exit status. */
  EXITED,
  /** It ended well and left no word that its work was done. */
  UNEXPLAINED,
  /** A signal ended it, that of the memory limit included. */
  KILLED,
  /** Its container left no exit status, such as after an eviction. */
  GONE;

  private static final int FIRST_SIGNAL = 128;

  /**
   * The kind of a failure.
   *
   * @param permanent whether the replica said that no restart helps
   * @param endedWell whether its container ended with exit code 0
   * @param exitCode of its container; 0 if that left none
   */
  public static FailureKind of(boolean permanent, boolean endedWell, int exitCode) {
    if (permanent) {
      return PROGRAM;
    }
    if (endedWell) {
      return UNEXPLAINED;
    }
    if (exitCode == 0) {
      return GONE;
    }
    return exitCode > FIRST_SIGNAL ? KILLED : EXITED;
  }

  /** As metrics and events call it, such as {@code Killed}. */
  public String label() {
    return name().charAt(0) + name().substring(1).toLowerCase(Locale.ROOT);
  }
}
