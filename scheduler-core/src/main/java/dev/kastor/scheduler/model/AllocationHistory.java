package dev.kastor.scheduler.model;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Allocations of one job up to the present one, summed up.
 *
 * @param allocation the present one
 * @param since when it was given; empty before the first
 * @param heldSince since when the job has held slots without a break; empty while it holds none
 * @param starts times that it was given slots: once for each allocation that is not empty
 * @param servedSeconds GPU-seconds that it held before {@code since}; time in which it waited or
 *     was suspended counts nothing
 */
public record AllocationHistory(
    Allocation allocation,
    Optional<Instant> since,
    Optional<Instant> heldSince,
    int starts,
    double servedSeconds) {
  /** History of a job that was never given anything. */
  public static final AllocationHistory NONE =
      new AllocationHistory(Allocation.NONE, Optional.empty(), Optional.empty(), 0, 0);

  public AllocationHistory {
    if (starts < 0 || !(servedSeconds >= 0) || Double.isInfinite(servedSeconds)) {
      throw new IllegalArgumentException(
          "starts (%d) must be at least 0 and servedSeconds (%s) finite and at least 0"
              .formatted(starts, servedSeconds));
    }
  }

  /** The history once the job has been given another allocation at {@code now}. */
  public AllocationHistory next(Allocation given, Instant now) {
    Optional<Instant> held =
        given.isEmpty()
            ? Optional.empty()
            : allocation.isEmpty() || heldSince.isEmpty() ? Optional.of(now) : heldSince;
    return new AllocationHistory(
        given, Optional.of(now), held, given.isEmpty() ? starts : starts + 1, attainedService(now));
  }

  /** GPU-seconds held up to {@code now}. */
  public double attainedService(Instant now) {
    return servedSeconds
        + since.map(given -> seconds(sinceOrZero(given, now))).orElse(0.0) * allocation.slots();
  }

  /** Times that the job went from one allocation to another with a pause. */
  public int restarts() {
    return Math.max(0, starts - 1);
  }

  static Duration sinceOrZero(Instant then, Instant now) {
    return then.isAfter(now) ? Duration.ZERO : Duration.between(then, now);
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() / 1e9;
  }
}
