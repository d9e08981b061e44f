package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.run.Run;
import java.util.Optional;

/** Results of replays that need not be made twice. */
public sealed interface KnownResults permits ResultJournal, KnownResults.Nothing {
  /** Remembers nothing. */
  KnownResults NOTHING = new Nothing();

  /** What is known of a replay. */
  Optional<Result> find(Run run);

  /** Keeps a result; called by several threads. */
  void note(Run run, Result result);

  /** See {@link #NOTHING}. */
  record Nothing() implements KnownResults {
    @Override
    public Optional<Result> find(Run run) {
      return Optional.empty();
    }

    @Override
    public void note(Run run, Result result) {}
  }
}
