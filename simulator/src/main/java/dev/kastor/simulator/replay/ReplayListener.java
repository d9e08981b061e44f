package dev.kastor.simulator.replay;

import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Snapshot;
import java.time.Instant;

/** Listener of one replay, called on the replay's own thread. */
@FunctionalInterface
public interface ReplayListener {
  /**
   * After each decision: {@code done} of {@code all} jobs are finished at {@code seconds} of
   * virtual time.
   */
  void at(double seconds, int done, int all);

  /** A job was given another allocation, or lost the one it had; in event-driven replays only. */
  default void allocated(JobId job, Allocation allocation, Instant at) {}

  /** A report arrived; in event-driven replays only. */
  default void reported(TelemetryReport report, Instant at) {}

  /**
   * A policy is about to be shown this, of all jobs or of new jobs; in event-driven replays only.
   */
  default void observed(Snapshot snapshot) {}
}
