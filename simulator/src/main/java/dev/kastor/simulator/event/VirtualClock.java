package dev.kastor.simulator.event;

import java.time.Duration;
import java.time.Instant;

/**
 * The present of a replay, in seconds since the epoch. A replay of a workload begins with the
 * epoch, one of a live cluster later. Owned by its simulation.
 */
final class VirtualClock {
  private double began;
  private double now;

  /** The replay begins. */
  void begin(double seconds) {
    began = seconds;
    now = seconds;
  }

  /** Seconds since the replay began. */
  double elapsed() {
    return now - began;
  }

  double now() {
    return now;
  }

  void set(double seconds) {
    now = seconds;
  }

  static double seconds(Duration duration) {
    return duration.toNanos() * 1e-9;
  }

  /** A time of the replay. */
  static Instant instant(double seconds) {
    return Instant.EPOCH.plus(duration(seconds));
  }

  static Duration duration(double seconds) {
    return Duration.ofNanos(Math.round(seconds * 1e9));
  }
}
