package dev.kastor.simulator.event;

import java.time.Duration;

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

  static Duration duration(double seconds) {
    return Duration.ofNanos(Math.round(seconds * 1e9));
  }
}
