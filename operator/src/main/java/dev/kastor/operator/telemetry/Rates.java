package dev.kastor.operator.telemetry;

import dev.kastor.protocol.Progress;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Measured speed of a job, smoothed over the last seconds.
 *
 * <p>Goodput is scale-invariant progress per second in examples of the initial batch (Pollux, OSDI
 * 2021, section 3: throughput times efficiency), taken from progress itself and not from a model.
 */
final class Rates {
  private static final double MEMORY_SECONDS = 10;

  /** Reports closer together than this are taken as one: their quotient would be noise. */
  private static final double SHORTEST_SECONDS = 0.2;

  private final int initialBatch;
  private @Nullable Progress last;
  private @Nullable Instant lastAt;
  private double goodput;
  private double throughput;
  private boolean known;

  Rates(int initialBatch) {
    this.initialBatch = initialBatch;
  }

  void observe(Progress progress, Instant now) {
    if (last == null || lastAt == null || progress.step() < last.step()) {
      // A first report, or training went back to a checkpoint.
      last = progress;
      lastAt = now;
      return;
    }
    double seconds = Duration.between(lastAt, now).toMillis() / 1000.0;
    if (seconds < SHORTEST_SECONDS) {
      return;
    }
    double good =
        (progress.scaleInvariantSteps() - last.scaleInvariantSteps()) * initialBatch / seconds;
    double examples = (progress.examples() - last.examples()) / seconds;
    double weight = known ? 1 - Math.exp(-seconds / MEMORY_SECONDS) : 1;
    goodput += weight * (Math.max(0, good) - goodput);
    throughput += weight * (Math.max(0, examples) - throughput);
    known = true;
    last = progress;
    lastAt = now;
  }

  /** Effective examples per second; null before the second report. */
  @Nullable Double goodput() {
    return known ? goodput : null;
  }

  /** Examples per second; null before the second report. */
  @Nullable Double throughput() {
    return known ? throughput : null;
  }
}
