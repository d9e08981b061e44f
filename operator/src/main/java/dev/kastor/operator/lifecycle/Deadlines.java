package dev.kastor.operator.lifecycle;

import dev.kastor.crds.trainingjob.LifecycleSpec;
import dev.kastor.operator.status.JobReason;
import dev.kastor.operator.status.LifeTimes;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Verdict on the life of an unfinished job, by the deadlines of its spec. */
public final class Deadlines {
  /** Conditions tell whole seconds, so what is counted from them began up to a second later. */
  private static final Duration ROUNDING = Duration.ofSeconds(1);

  /** What the clock says. */
  public sealed interface Verdict {
    /** Nothing before that instant, {@link Instant#MAX} if nothing ever. */
    record InTime(Instant until) implements Verdict {}

    /** The job has failed. */
    record Failed(JobReason reason, String message) implements Verdict {}

    /** It has to give its slots back and wait again. */
    record StartAgain(int failedStarts, JobReason reason, String message) implements Verdict {}
  }

  private Deadlines() {}

  /**
   * The verdict on a job that is not suspended.
   *
   * @param limits with all defaults
   */
  public static Verdict check(LifecycleSpec limits, LifeTimes times, Instant now) {
    Optional<Instant> activeEnd =
        times
            .started()
            .flatMap(at -> end(at.plus(times.suspended()), limits.activeDeadlineSeconds()));
    if (passed(activeEnd, now)) {
      return new Verdict.Failed(
          JobReason.ActiveDeadlineExceeded,
          "The job has been active for more than activeDeadlineSeconds (%d) since %s."
              .formatted(limits.activeDeadlineSeconds(), times.started().orElseThrow()));
    }
    Optional<Instant> queueEnd =
        times.started().isPresent()
            ? Optional.empty()
            : times.waiting().flatMap(at -> end(at.plus(ROUNDING), limits.queueDeadlineSeconds()));
    if (passed(queueEnd, now)) {
      return new Verdict.Failed(
          JobReason.QueueDeadlineExceeded,
          "The job has waited for slots for more than queueDeadlineSeconds (%d)."
              .formatted(limits.queueDeadlineSeconds()));
    }
    Optional<Duration> patience = patience(limits).filter(most -> times.started().isEmpty());
    if (patience.filter(most -> times.refused().compareTo(most) >= 0).isPresent()) {
      return new Verdict.Failed(
          JobReason.StartDeadlineExceeded,
          "The API server has refused the job's pods for longer than its %d starts may take together, of startDeadlineSeconds (%d) each."
              .formatted(limits.startAttempts(), limits.startDeadlineSeconds()));
    }
    Optional<Instant> startEnd =
        times.starting().flatMap(at -> end(at.plus(ROUNDING), limits.startDeadlineSeconds()));
    if (passed(startEnd, now)) {
      return lateStart(limits, times.failedStarts() + 1);
    }
    return new Verdict.InTime(
        earliest(activeEnd, earliest(queueEnd, startEnd.orElse(Instant.MAX))));
  }

  /** How long the API server may refuse the pods of a job that has never trained. */
  private static Optional<Duration> patience(LifecycleSpec limits) {
    Long seconds = limits.startDeadlineSeconds();
    Integer attempts = limits.startAttempts();
    return seconds == null || attempts == null
        ? Optional.empty()
        : Optional.of(Duration.ofSeconds(seconds).multipliedBy(attempts));
  }

  private static Verdict lateStart(LifecycleSpec limits, int failedStarts) {
    Integer attempts = limits.startAttempts();
    String message =
        "The job had slots and did not train within startDeadlineSeconds (%d), in attempt %d of %d."
            .formatted(limits.startDeadlineSeconds(), failedStarts, attempts);
    return attempts != null && failedStarts >= attempts
        ? new Verdict.Failed(JobReason.StartDeadlineExceeded, message)
        : new Verdict.StartAgain(failedStarts, JobReason.StartDeadlineExceeded, message);
  }

  /**
   * The verdict on a job that starts and whose pods will never run as they are.
   *
   * @param limits with all defaults
   * @param words what the kubelet says of them
   */
  static Verdict stuck(LifecycleSpec limits, LifeTimes times, String words) {
    int failedStarts = times.failedStarts() + 1;
    Integer attempts = limits.startAttempts();
    String message =
        "Pods of the job cannot start, in attempt %d of %d: %s"
            .formatted(failedStarts, attempts, words);
    return attempts != null && failedStarts >= attempts
        ? new Verdict.Failed(JobReason.PodsCannotStart, message)
        : new Verdict.StartAgain(failedStarts, JobReason.PodsCannotStart, message);
  }

  private static Optional<Instant> end(Instant from, @Nullable Long seconds) {
    return seconds == null ? Optional.empty() : Optional.of(from.plusSeconds(seconds));
  }

  private static boolean passed(Optional<Instant> end, Instant now) {
    return end.isPresent() && !now.isBefore(end.get());
  }

  private static Instant earliest(Optional<Instant> one, Instant other) {
    return one.filter(at -> at.isBefore(other)).orElse(other);
  }
}
