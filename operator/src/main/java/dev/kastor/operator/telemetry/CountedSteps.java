package dev.kastor.operator.telemetry;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepCount;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reports of a gang, made of what its script counts. The script says how many steps it has taken;
 * where it runs and how long that took the operator sees for itself. Owned by the job's telemetry.
 *
 * <p>What is measured is the time of the job's own batch, whole: nobody knows how much of it is
 * synchronisation, so all counts as computation, of which the constant part stays however many
 * replicas share the rest.
 */
final class CountedSteps {
  /** Counts closer together than this are taken as one: their quotient would be noise. */
  private static final double LEAST_SECONDS = 1;

  /** More than any job trains in a second. */
  private static final double MOST_EXAMPLES_PER_SECOND = 1e12;

  /** Thirty years: no step takes longer. */
  private static final double MOST_STEP_SECONDS = 1e9;

  private static final double MOST_EXAMPLES = 0x1p52;

  /** From where the next speed is measured. */
  private record Mark(long generation, StepCount count, Instant at) {}

  private final JobId job;
  private final int initialBatch;
  private @Nullable StepCount newest;
  private @Nullable Mark mark;
  private TelemetryStore.@Nullable Start start;
  private double examples;
  private long sequence;

  /**
   * Counts of a job.
   *
   * @param examples that were counted under an earlier operator
   */
  CountedSteps(JobSpec spec, long examples) {
    job = spec.id();
    initialBatch = spec.batchLimits().initialGlobalBatch();
    this.examples = examples;
  }

  /**
   * The report that a count amounts to.
   *
   * @param from the start that the sender belongs to
   * @param seconds since the last step, or since slots were given where that is later
   * @throws IllegalArgumentException if no job can have been so fast
   */
  TelemetryReport report(
      TelemetryStore.Start from, String pod, StepCount count, double seconds, Instant now) {
    List<StepProfile> profiles = profile(from, count, now).stream().toList();
    List<Switch> switches = began(from, seconds).stream().toList();
    examples = Math.clamp(examples + gained(count), 0, MOST_EXAMPLES);
    newest = count;
    start = from;
    int replicas = from.replicas();
    return new TelemetryReport(
        job.namespace(),
        job.name(),
        pod,
        from.generation(),
        sequence++,
        replicas,
        new BatchPlan((int) Math.ceilDiv(count.batch(), (long) replicas), 0),
        profiles,
        null,
        new Progress(count.steps(), examples / initialBatch, 0, (long) examples, 0),
        null,
        null,
        null,
        switches,
        null);
  }

  /** Speed since the mark, which moves on. */
  private Optional<StepProfile> profile(TelemetryStore.Start from, StepCount count, Instant now) {
    Mark before = mark;
    boolean goesOn =
        before != null
            && before.generation() == from.generation()
            && before.count().batch() == count.batch()
            && before.count().steps() <= count.steps();
    Mark after = new Mark(from.generation(), count, now);
    if (before == null || !goesOn) {
      mark = after;
      return Optional.empty();
    }
    long steps = count.steps() - before.count().steps();
    double seconds = Duration.between(before.at(), now).toMillis() / 1000.0;
    double perSecond = (double) steps * count.batch() / Math.max(seconds, LEAST_SECONDS);
    if (perSecond > MOST_EXAMPLES_PER_SECOND) {
      throw new IllegalArgumentException(
          "steps grew by %d of %d examples (batch) within %.1f s, which no job can. Count optimizer steps, and examples of one step."
              .formatted(steps, count.batch(), seconds));
    }
    if (seconds < LEAST_SECONDS || steps == 0) {
      return Optional.empty();
    }
    mark = after;
    int atomic = Math.ceilDiv(initialBatch, from.replicas());
    double stepSeconds = (double) atomic * from.replicas() / perSecond;
    return Optional.of(
        new StepProfile(
            from.nodes().size(),
            from.replicas(),
            atomic,
            (int) Math.min(steps, Integer.MAX_VALUE),
            Math.min(stepSeconds, MOST_STEP_SECONDS),
            0,
            from.gpuType()));
  }

  /** The change that the first count of a start tells of. */
  private Optional<Switch> began(TelemetryStore.Start from, double seconds) {
    TelemetryStore.Start before = start;
    if (before != null && before.generation() == from.generation()) {
      return Optional.empty();
    }
    // Pods that start again where they were did so for a failure, and after its backoff.
    boolean failure = before != null && before.allocated().equals(from.allocated());
    return Optional.of(
        new Switch(
            from.generation(),
            before == null ? 0 : before.replicas(),
            from.replicas(),
            failure ? Switch.Cause.FAILURE : Switch.Cause.START,
            seconds));
  }

  /** Examples since the last count; fewer than none where a script went back to a checkpoint. */
  private double gained(StepCount count) {
    StepCount before = newest;
    if (before == null) {
      return 0;
    }
    long steps = count.steps() - before.steps();
    return (double) steps * (steps >= 0 ? count.batch() : before.batch());
  }
}
