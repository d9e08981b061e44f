package dev.kastor.operator;

import io.quarkus.test.Mock;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Clock of the operator in tests: real time, and what a test adds to it. It never goes back, so a
 * test compares the operator's times with this clock, not with the system's.
 */
@Mock
@Singleton
class MovableClock implements InstantSource {
  private final AtomicReference<Duration> ahead = new AtomicReference<>(Duration.ZERO);

  /** Adds a duration to the time of the operator, from now on. */
  void advance(Duration by) {
    ahead.updateAndGet(by::plus);
  }

  @Override
  public Instant instant() {
    return Instant.now().plus(ahead.get());
  }
}
