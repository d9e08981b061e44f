package dev.kastor.operator.scheduling;

import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.signal.Signals;
import dev.kastor.scheduler.loop.Round;
import jakarta.inject.Singleton;
import java.time.InstantSource;

/** Results of rounds, told to all that keep something of them. */
@Singleton
final class RoundResults {
  private final FirstLooks firstLooks;
  private final Decisions decisions;
  private final StandingAdvice advice;
  private final RecordedRounds recorded;
  private final Signals signals;
  private final Metrics metrics;
  private final InstantSource clock;

  RoundResults(
      FirstLooks firstLooks,
      Decisions decisions,
      StandingAdvice advice,
      RecordedRounds recorded,
      Signals signals,
      Metrics metrics,
      InstantSource clock) {
    this.firstLooks = firstLooks;
    this.decisions = decisions;
    this.advice = advice;
    this.recorded = recorded;
    this.signals = signals;
    this.metrics = metrics;
    this.clock = clock;
  }

  /** Tells of a round that took this long. */
  void tell(Round round, double seconds) {
    metrics.decided(round, seconds);
    tellFirstLooks(round);
    recorded.decided(round);
    decisions.decided(round).forEach(signals::job);
    advice.observe(round.snapshot());
  }

  /** Tells of a round for newcomers alone, before it is stored. */
  void tellServed(Round round) {
    decisions.served(round);
    recorded.served(round);
    metrics.served(round);
  }

  /** Tells that the newcomers of a round were looked at. */
  void tellFirstLooks(Round round) {
    firstLooks.decided(round, clock.instant());
  }

  /** Tells of a round that no decision came of. */
  void tellFailure() {
    metrics.decisionFailed();
  }
}
