package dev.kastor.operator.telemetry;

import java.time.Duration;
import java.time.Instant;

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

  /** A second in which nothing is written tells nothing of the API server: caution wears off. */
  private static final double RECOVERY = 0.5;

  private double perSecond = MOST;
  private Instant newest = Instant.EPOCH;

  /** Takes note of whether one was stored, and of how long that took until now. */
  synchronized void answered(boolean stored, Duration took, Instant now) {
    double before = perSecond(now.minus(took));
    perSecond =
        !stored || took.compareTo(SLOW) > 0
            ? Math.max(LEAST, before * DECREASE)
            : Math.min(MOST, before + INCREASE);
    newest = now;
  }

  /** Time between two summaries of one of so many jobs, at least this. */
  synchronized Duration spacing(int jobs, Duration least, Instant now) {
    Duration fair = Duration.ofMillis(Math.round(jobs * 1000 / perSecond(now)));
    return fair.compareTo(least) > 0 ? fair : least;
  }

  private double perSecond(Instant now) {
    double seconds = Math.max(0, Duration.between(newest, now).toMillis() / 1000.0);
    return Math.min(MOST, perSecond + RECOVERY * seconds);
  }
}
