package dev.kastor.operator.web;

import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Overviews as they change: one is built per second for all viewers together, and none while nobody
 * looks.
 */
@Singleton
final class OverviewFeed {
  private static final Duration PERIOD = Duration.ofSeconds(1);

  /** An unchanged overview is sent this often, so that a viewer notices a dead connection. */
  private static final int HEARTBEAT_TICKS = 10;

  /**
   * Most streams at once. Each holds a connection for as long as its viewer likes, and connections
   * of strangers are bounded together.
   */
  static final int MOST = 100;

  private final OverviewBuilder builder;
  private final Multi<Tick> ticks;
  private final AtomicInteger streams = new AtomicInteger();

  private record Tick(Overview overview, boolean heartbeat) {}

  OverviewFeed(OverviewBuilder builder) {
    this.builder = builder;
    this.ticks =
        Multi.createFrom()
            .ticks()
            .every(PERIOD)
            .onOverflow()
            .drop()
            .emitOn(Infrastructure.getDefaultWorkerPool())
            .map(n -> new Tick(builder.build(), n % HEARTBEAT_TICKS == 0))
            .broadcast()
            .withCancellationAfterLastSubscriberDeparture()
            .toAllSubscribers();
  }

  /** Whether there are as many streams as there may be. */
  boolean isFull() {
    return streams.get() >= MOST;
  }

  /** The overview at once, then again whenever it differs from the one before. */
  Multi<Overview> changes() {
    Multi<Overview> live =
        Multi.createFrom()
            .deferred(() -> {
              Overview[] sent = new Overview[1];
              return ticks
                  .onOverflow()
                  .drop()
                  .filter(tick -> tick.heartbeat() || !tick.overview().equals(sent[0]))
                  .map(Tick::overview)
                  .invoke(overview -> sent[0] = overview);
            });
    return Multi.createBy()
        .concatenating()
        .streams(Multi.createFrom().item(builder::build), live)
        .onSubscription()
        .invoke(streams::incrementAndGet)
        .onTermination()
        .invoke(streams::decrementAndGet);
  }
}
