package dev.kastor.local;

import java.time.Duration;

/**
 * Waiting times before starts of a process that ended: each is twice the one before, up to a limit,
 * until the process was well for a while.
 */
final class Backoff {
  static final Duration LEAST = Duration.ofMillis(250);
  static final Duration MOST = Duration.ofMinutes(1);

  /** A process that was well for so long is not failing over and over. */
  static final Duration WELL = Duration.ofMinutes(5);

  private Duration next = LEAST;

  /**
   * The time to wait before the next start.
   *
   * @param well how long the process that ended was well
   */
  Duration next(Duration well) {
    Duration now = well.compareTo(WELL) >= 0 ? LEAST : next;
    Duration doubled = now.multipliedBy(2);
    next = doubled.compareTo(MOST) > 0 ? MOST : doubled;
    return now;
  }
}
