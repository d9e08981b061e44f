package dev.kastor.operator.telemetry;

import dev.kastor.protocol.Progress;
import java.time.Duration;
import java.time.Instant;

/**
 * The end that a job's own numbers promised for the speed that it has. A job that is still there
 * long after it has no say on how much work it has left. Owned by the job's telemetry.
 */
final class Promise {
  /** Ends may come later by this factor, and by this time, in which the job is evaluated. */
  private static final double LATER = 1.5;

  private static final double PATIENCE_SECONDS = 60;

  /** Nobody who broke a promise is taken to end soon: he has at least so much work left. */
  private static final Duration LEAST_LEFT = Duration.ofHours(1);

  private final int initialBatch;
  private final Instant begun;
  private double speed;

  /** Seconds of training so far: a job that waits or restarts for others breaks no promise. */
  private double trained;

  /** The promised end on the same scale. */
  private double end = Double.POSITIVE_INFINITY;

  Promise(int initialBatch, Instant begun) {
    this.initialBatch = initialBatch;
    this.begun = begun;
  }

  /** Notes that the job has trained for so long. */
  void trained(Duration time) {
    trained += time.toMillis() / 1000.0;
  }

  /** Notes that a new generation has to repeat so many scale-invariant steps. */
  void setBack(double steps) {
    if (speed > 0 && !broken()) {
      end += LATER * steps * initialBatch / speed;
    }
  }

  /**
   * Takes in progress.
   *
   * @param goodput effective examples a second where it trains; 0 where nothing is known
   */
  void observe(Progress progress, double goodput) {
    if (progress.totalScaleInvariantSteps() <= 0 || goodput <= 0) {
      return;
    }
    if (end < Double.POSITIVE_INFINITY && !broken()) {
      // Another size, or others who came to share its device. Who claims ever less speed to put an
      // end off claims to go on for longer as well, and is scheduled so.
      end = trained + (end - trained) * speed / goodput;
    }
    speed = goodput;
    double left = progress.totalScaleInvariantSteps() - progress.scaleInvariantSteps();
    end = Math.min(end, trained + PATIENCE_SECONDS + LATER * left * initialBatch / goodput);
  }

  /** There is nothing to be believed any more. */
  void end() {
    end = Double.NEGATIVE_INFINITY;
  }

  /** Whether the job should have ended long ago. */
  boolean broken() {
    return trained > end;
  }

  /** Progress with as much work left as may be believed. */
  Progress believed(Progress said, Instant now) {
    if (!broken()) {
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
