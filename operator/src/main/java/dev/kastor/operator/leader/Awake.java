package dev.kastor.operator.leader;

import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The moment since which this operator has run without a standstill: a machine that slept, a
 * process or a VM that was stopped, a clock that was set forward. Nobody could be heard meanwhile,
 * so that the silence of others counts from then on only.
 *
 * <p>It beats once a second and compares the clock with the last beat. Who asks beats too: the
 * first question after a standstill may come before the timer does. Thread-safe.
 */
@Singleton
public final class Awake {
  private static final Duration BEAT = Duration.ofSeconds(1);

  /** A process that waits for a processor, or collects garbage, is awake. */
  private static final Duration STANDSTILL = Duration.ofSeconds(4);

  private final InstantSource clock;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("awake").daemon().factory());
  private Instant beat = Instant.MAX;
  private Instant since = Instant.EPOCH;

  public Awake(InstantSource clock) {
    this.clock = clock;
  }

  /** Begins to beat. */
  public void start() {
    var _ =
        timer.scheduleAtFixedRate(
            this::since, BEAT.toMillis(), BEAT.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Beats no more. */
  @PreDestroy
  public void stop() {
    timer.shutdownNow();
  }

  /** The end of the last standstill; the epoch if there was none. */
  public synchronized Instant since() {
    Instant now = clock.instant();
    if (!beat.equals(Instant.MAX) && now.isAfter(beat.plus(STANDSTILL))) {
      since = now;
    }
    beat = now;
    return since;
  }
}
