package dev.kastor.operator.telemetry;

import java.time.Duration;

/**
 * How many summaries are written a second. They are the first thing that an API server with
 * thousands of jobs can do without, so they give way while it is slow to answer them: additive
 * increase, multiplicative decrease. Thread-safe.
 */
final class SummaryBudget {
  static final double MOST = 50;
  static final double LEAST = 5;

  /** Longer than this, and others wait as well. */
  private static final Duration SLOW = Duration.ofMillis(50);

  private static final double INCREASE = 0.25;
  private static final double DECREASE = 0.9;

  private double perSecond = MOST;

  /** Takes note of whether one was stored, and of how long that took. */
  synchronized void answered(boolean stored, Duration took) {
    perSecond =
        !stored || took.compareTo(SLOW) > 0
            ? Math.max(LEAST, perSecond * DECREASE)
            : Math.min(MOST, perSecond + INCREASE);
  }

  /** Time between two summaries of one of so many jobs, at least this. */
  synchronized Duration spacing(int jobs, Duration least) {
    Duration fair = Duration.ofMillis(Math.round(jobs * 1000 / perSecond));
    return fair.compareTo(least) > 0 ? fair : least;
  }
}
