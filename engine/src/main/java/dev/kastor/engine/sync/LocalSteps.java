package dev.kastor.engine.sync;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.SyncPolicy;
import dev.kastor.engine.train.SyncPolicyPlugin;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import java.util.List;

/**
 * Rounds of always as many steps: local SGD (Stich, ICLR 2019, algorithm 1). Other than there,
 * optimizers with a state are allowed.
 */
final class LocalSteps implements SyncPolicyPlugin {
  private static final Option<Integer> STEPS =
      Option.count("steps", 8, "local steps of each replica between two exchanges")
          .where(
              value -> value >= 1 && value <= SyncPolicy.MOST_STEPS,
              "from 1 to " + SyncPolicy.MOST_STEPS);

  @Override
  public String name() {
    return "local";
  }

  @Override
  public String description() {
    return "Exchanges the mean of the parameters after some steps that each replica takes alone.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(STEPS);
  }

  @Override
  public SyncPolicy create(Options options) {
    return new Fixed(options.get(STEPS));
  }

  /** A period that never changes. */
  private record Fixed(int period) implements SyncPolicy {
    @Override
    public List<Section> state() {
      return List.of();
    }

    @Override
    public void applied(AppliedRound round) {}
  }
}
