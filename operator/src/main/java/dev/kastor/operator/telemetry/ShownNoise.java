package dev.kastor.operator.telemetry;

import dev.kastor.protocol.Progress;
import dev.kastor.protocol.TelemetryReport;
import org.jspecify.annotations.Nullable;

/**
 * Gradient noise scale that a job's progress supports: a step's gain at a known batch tells it
 * (Pollux, OSDI 2021, section 3.1). A step of the initial batch gains 1 whatever the noise is.
 * Owned by the job's telemetry.
 */
final class ShownNoise {
  /** Least multiple of the initial batch whose gain tells the noise apart from rounding. */
  private static final double LEAST_SCALE = 1.5;

  /** The noise of the newest step may exceed that of the steps since the last report. */
  private static final double RISING = 1.25;

  private final int initialBatch;
  private @Nullable TelemetryReport before;
  private double most = Double.POSITIVE_INFINITY;

  ShownNoise(int initialBatch) {
    this.initialBatch = initialBatch;
  }

  /** Takes in a report, of a job's rank 0, as it was told. */
  void observe(TelemetryReport report) {
    TelemetryReport earlier = before;
    before = report;
    if (earlier == null
        || earlier.generation() != report.generation()
        || earlier.replicas() != report.replicas()
        || !earlier.batch().equals(report.batch())
        || report.replicas() == 0) {
      return;
    }
    double scale = (double) report.batch().globalBatchSize(report.replicas()) / initialBatch;
    Progress progress = report.progress();
    long steps = progress.step() - earlier.progress().step();
    double gained = progress.scaleInvariantSteps() - earlier.progress().scaleInvariantSteps();
    if (scale >= LEAST_SCALE && steps > 0) {
      double gain = Math.max(1, gained / steps);
      most =
          gain >= scale
              ? Double.POSITIVE_INFINITY
              : RISING * initialBatch * (gain - 1) / (1 - gain / scale);
    }
  }

  /** The largest noise scale in examples that may be believed; infinite until a gain tells. */
  double most() {
    return most;
  }
}
