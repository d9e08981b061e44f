package dev.kastor.operator;

import dev.kastor.operator.leader.Awake;
import io.quarkus.test.Mock;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Clock of the operator in tests: real time, and what a test adds to it. It never goes back, so a
 * test compares the operator's times with this clock, not with the system's. What one class adds
 * stays for the classes after it that share its operator.
 */
@Mock
@Singleton
class MovableClock implements InstantSource {
  /** Less than what {@link Awake} takes for a standstill. */
  private static final Duration STEP = Duration.ofSeconds(1);

  private final AtomicReference<Time> time =
      new AtomicReference<>(new Time(Duration.ZERO, Optional.empty()));

  /**
   * How the operator's time comes from the real one.
   *
   * @param ahead how far it is ahead of it
   * @param stopped where it stands; empty while it goes on
   */
  private record Time(Duration ahead, Optional<Instant> stopped) {
    Instant instant() {
      return stopped.orElseGet(() -> Instant.now().plus(ahead));
    }
  }

  /** Adds a duration to the time of the operator, from now on. */
  void advance(Duration by) {
    time.updateAndGet(
        before -> new Time(before.ahead().plus(by), before.stopped().map(at -> at.plus(by))));
  }

  /**
   * Lets time go by as for an operator that runs all the while: one jump is a machine that slept,
   * and who was silent meanwhile is not to be blamed.
   */
  void pass(Duration time, Awake awake) {
    for (Duration left = time; left.isPositive(); left = left.minus(STEP)) {
      advance(left.compareTo(STEP) < 0 ? left : STEP);
      awake.since();
    }
  }

  /**
   * Stops the time of the operator until the result is closed, so that a test may take as long as
   * it likes for what has to happen within a time; {@link #advance} moves it on. Then it goes on,
   * as if real time had never been stopped.
   */
  Stop stop() {
    time.updateAndGet(before -> new Time(before.ahead(), Optional.of(before.instant())));
    return () -> time.updateAndGet(before -> new Time(before.ahead(), Optional.empty()));
  }

  /** The time in which the clock stands. */
  interface Stop extends AutoCloseable {
    @Override
    void close();
  }

  @Override
  public Instant instant() {
    return time.get().instant();
  }
}
