package dev.kastor.operator.telemetry;

import dev.kastor.protocol.Progress;
import java.time.Duration;
import java.time.Instant;

/**
 * The end that a job's own numbers promised for the size that it has. A job that is still there
 * long after it has no say on how much work it has left. Owned by the job's telemetry.
 */
final class Promise {
  /** Ends may come later by this factor, and by this time, in which the job is evaluated. */
  private static final double LATER = 1.5;

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Nobody who broke a promise is taken to end soon: he has at least so much work left. */
  private static final Duration LEAST_LEFT = Duration.ofHours(1);

  private static final double FARTHEST_SECONDS = 1e9;

  private final int initialBatch;
  private final Instant begun;
  private int replicas;
  private double speed;
  private Instant end = Instant.MAX;

  Promise(int initialBatch, Instant begun) {
    this.initialBatch = initialBatch;
    this.begun = begun;
  }

  /**
   * Takes in progress.
   *
   * @param goodput effective examples a second at its present size; 0 where nothing is known
   */
  void observe(int size, Progress progress, double goodput, Instant now) {
    if (progress.totalScaleInvariantSteps() <= 0 || goodput <= 0) {
      return;
    }
    if (size != replicas && !end.equals(Instant.MAX) && !broken(now)) {
      double seconds = Duration.between(now, end).toSeconds() * speed / goodput;
      end = now.plusSeconds((long) Math.min(FARTHEST_SECONDS, seconds));
    }
    replicas = size;
    speed = goodput;
    double left = progress.totalScaleInvariantSteps() - progress.scaleInvariantSteps();
    double seconds = Math.min(FARTHEST_SECONDS, LATER * left * initialBatch / goodput);
    Instant promised = now.plus(PATIENCE).plusMillis((long) (seconds * 1000));
    end = promised.isBefore(end) ? promised : end;
  }

  /** There is nothing to be believed any more. */
  void end() {
    end = Instant.MIN;
  }

  /** Whether the job should have ended long ago. */
  boolean broken(Instant now) {
    return now.isAfter(end);
  }

  /** Progress with as much work left as may be believed. */
  Progress believed(Progress said, Instant now) {
    if (!broken(now)) {
      return said;
    }
    Duration age = Duration.between(begun, now).dividedBy(2);
    Duration left = age.compareTo(LEAST_LEFT) > 0 ? age : LEAST_LEFT;
    double steps = left.toSeconds() * speed / initialBatch;
    return new Progress(
        said.step(),
        said.scaleInvariantSteps(),
        said.scaleInvariantSteps() + steps,
        said.examples(),
        said.epoch());
  }
}
