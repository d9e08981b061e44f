package dev.kastor.operator.history;

import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Reason;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The growing past of one job. Thread-safe: every method holds its lock for a few microseconds. */
final class JobTrack {
  static final int MOST_SAMPLES = 500;
  static final int MOST_SEGMENTS = 300;

  private final JobId job;
  private final BoundedSeries<Sample> samples = new BoundedSeries<>(MOST_SAMPLES);
  private final ScalarSeries scalars = new ScalarSeries();
  private final Timeline timeline = new Timeline(MOST_SEGMENTS);
  private final RateMeter meter = new RateMeter();
  private TrainingJobStatus.@Nullable Phase phase;
  private @Nullable Instant ended;
  private boolean deleted;
  private @Nullable Progress progress;
  private @Nullable Sample newest;
  private Instant touched;

  /** A job that was first heard of at that time. */
  JobTrack(JobId job, Instant at) {
    this.job = job;
    this.touched = at;
  }

  synchronized void allocated(Allocation allocation, Reason reason, Instant at) {
    touched = at;
    if (ended == null) {
      timeline.begin(allocation, reason, at);
    }
  }

  /** Takes in a report; from now on at most so many samples and points of scalars are kept. */
  synchronized void reported(
      TelemetryReport report,
      Optional<GradientStats> known,
      Instant at,
      int mostSamples,
      int mostPoints) {
    touched = at;
    samples.bound(mostSamples);
    progress = report.progress();
    RateMeter.Rates rates = meter.mark(at, report.progress());
    int globalBatch = report.batch().globalBatchSize(report.replicas());
    GradientStats gradient = report.gradient() == null ? known.orElse(null) : report.gradient();
    // One scale-invariant step is worth the initial batch, so steps per second times M0 are
    // effective examples per second: goodput as achieved (Pollux, OSDI 2021, section 3).
    double goodput =
        gradient == null ? Double.NaN : rates.scaleInvariantSteps() * gradient.initialBatch();
    Sample sample =
        new Sample(
            at,
            report.progress().step(),
            orUnknown(report.trainingLoss()),
            rates.examples(),
            goodput,
            // Goodput over throughput, so that the three agree; else what the noise says.
            rates.examples() > 0
                ? Math.min(1, goodput / rates.examples())
                : gradient == null || globalBatch == 0
                    ? Double.NaN
                    : Math.min(1, gradient.efficiency(globalBatch)),
            rates.steps(),
            gradient == null ? Double.NaN : gradient.noiseScale(),
            orUnknown(report.learningRate()),
            // Mostly the same for hours.
            newest != null && newest.batch().equals(report.batch())
                ? newest.batch()
                : report.batch(),
            report.replicas());
    if (newest == null || !at.isBefore(newest.at())) {
      newest = sample;
      samples.add(sample);
      scalars.add(report, at, mostPoints);
    }
  }

  private static double orUnknown(@Nullable Double value) {
    return value == null ? Double.NaN : value;
  }

  synchronized void phase(TrainingJobStatus.Phase entered, Instant at) {
    touched = at;
    phase = entered;
    if (entered == TrainingJobStatus.Phase.Succeeded || entered == TrainingJobStatus.Phase.Failed) {
      end(at);
    }
  }

  synchronized void deleted(Instant at) {
    touched = at;
    deleted = true;
    end(at);
  }

  private void end(Instant at) {
    timeline.end(at);
    if (ended == null) {
      ended = at;
    }
  }

  synchronized boolean isDeleted() {
    return deleted;
  }

  synchronized boolean hasSegments() {
    return !timeline.segments().isEmpty();
  }

  synchronized Optional<Instant> ended() {
    return Optional.ofNullable(ended);
  }

  synchronized Instant touched() {
    return touched;
  }

  synchronized Optional<Sample> newest() {
    return Optional.ofNullable(newest);
  }

  synchronized Optional<Progress> progress() {
    return Optional.ofNullable(progress);
  }

  synchronized List<Segment> segments() {
    return timeline.segments();
  }

  synchronized JobStory story() {
    return new JobStory(
        job,
        phase,
        ended,
        deleted,
        progress,
        samples.points(),
        scalars.points(),
        timeline.segments());
  }
}
