package dev.kastor.agent.telemetry;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Lines on the progress of training for whoever reads the log, now and then. Not thread-safe. */
final class ProgressLog {
  private static final Duration PERIOD = Duration.ofSeconds(10);

  private final LongSupplier nanoTime;
  private boolean begun;
  private long lastNanos;
  private long lastExamples;
  private double lossSum;
  private long losses;

  /**
   * One whose first line comes a period after the first step.
   *
   * @param nanoTime a clock as {@link System#nanoTime}
   */
  ProgressLog(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** The line that is due after a step; empty where none is. */
  Optional<String> stepped(StepSample sample) {
    TrainingStatus status = sample.status();
    long now = nanoTime.getAsLong();
    if (!begun) {
      begun = true;
      lastNanos = now;
      lastExamples = status.progress().examples();
      return Optional.empty();
    }
    if (Double.isFinite(sample.loss())) {
      lossSum += sample.steps() * sample.loss();
      losses += sample.steps();
    }
    double seconds = (now - lastNanos) * 1e-9;
    if (seconds < PERIOD.toSeconds()) {
      return Optional.empty();
    }
    String line = line(status, seconds);
    lastNanos = now;
    lastExamples = status.progress().examples();
    lossSum = 0;
    losses = 0;
    return Optional.of(line);
  }

  private String line(TrainingStatus status, double seconds) {
    var progress = status.progress();
    StringBuilder line = new StringBuilder("step %d".formatted(progress.step()));
    if (progress.totalScaleInvariantSteps() > 0) {
      line.append(", %d %% done".formatted((int) (100 * progress.fraction())));
    }
    line.append(", epoch %d".formatted(progress.epoch()));
    if (losses > 0) {
      line.append(text(", loss %.4g", lossSum / losses));
    }
    line.append(text(", %.0f examples/s", (progress.examples() - lastExamples) / seconds));
    line.append(
        ", batch %d of %d %s"
            .formatted(
                status.batch().globalBatchSize(status.replicas()),
                status.replicas(),
                status.replicas() == 1 ? "replica" : "replicas"));
    status.learningRate().ifPresent(rate -> line.append(text(", learning rate %.3g", rate)));
    return line.toString();
  }

  private static String text(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }
}
