package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.bound.LowerBound;
import dev.kastor.simulator.run.Run;
import java.time.Duration;
import java.util.Optional;

/** Results of replays, and lower bounds, that need not be made twice. */
public sealed interface KnownResults permits ResultJournal, KnownResults.Nothing {
  /** Remembers nothing. */
  KnownResults NOTHING = new Nothing();

  /** What is known of a replay. */
  Optional<Result> find(Run run);

  /** Keeps a result; called by several threads. */
  void note(Run run, Result result);

  /** What is known of the lower bound of a run's workload with time slots of this length. */
  Optional<LowerBound> findBound(Run run, Duration slot);

  /** Keeps a lower bound. */
  void noteBound(Run run, Duration slot, LowerBound bound);

  /** See {@link #NOTHING}. */
  record Nothing() implements KnownResults {
    @Override
    public Optional<Result> find(Run run) {
      return Optional.empty();
    }

    @Override
    public void note(Run run, Result result) {}

    @Override
    public Optional<LowerBound> findBound(Run run, Duration slot) {
      return Optional.empty();
    }

    @Override
    public void noteBound(Run run, Duration slot, LowerBound bound) {}
  }
}
