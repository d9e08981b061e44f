package dev.kastor.simulator.event;

import java.time.Duration;
import java.time.Instant;

/** The present of a replay in seconds since its start; owned by its simulation. */
final class VirtualClock {
  private double now;

  double now() {
    return now;
  }

  void set(double seconds) {
    now = seconds;
  }

  static double seconds(Duration duration) {
    return duration.toNanos() * 1e-9;
  }

  /** A time of the replay, which begins with the epoch. */
  static Instant instant(double seconds) {
    return Instant.EPOCH.plus(duration(seconds));
  }

  static Duration duration(double seconds) {
    return Duration.ofNanos(Math.round(seconds * 1e9));
  }
}
