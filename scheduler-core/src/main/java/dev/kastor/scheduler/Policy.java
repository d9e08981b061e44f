package dev.kastor.scheduler;

import java.time.Duration;

/**
 * Decides who runs where.
 *
 * <p>Deterministic in the snapshots it has seen and its own seed. It may keep a warm start between
 * calls but never the truth: dropping it may cost quality, not correctness.
 */
public interface Policy {
  /** Its name in the registry. */
  String name();

  /** What it decides for its jobs; a host leaves the rest as their owners asked. */
  default Control control() {
    return Control.SIZE_AND_BATCH;
  }

  /** What it wants to know of its jobs where a replay keeps to published rules. */
  default Learning learning() {
    return Learning.FAITHFUL;
  }

  /** Whether it looks at GPU types; one that does not takes all GPUs for alike. */
  default boolean seesGpuTypes() {
    return false;
  }

  /** Time between its decisions in the experiments that published it with GPU types. */
  default Duration round() {
    return Duration.ofSeconds(60);
  }

  /** An allocation for every job of the snapshot; checked by the loop before it is applied. */
  Plan plan(Snapshot snapshot);
}
