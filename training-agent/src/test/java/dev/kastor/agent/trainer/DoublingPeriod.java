package dev.kastor.agent.trainer;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.SyncPolicy;
import dev.kastor.engine.train.SyncPolicyPlugin;
import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Options;
import java.util.ArrayList;
import java.util.List;

/** Policy whose rounds have 1, 2, 4 and then always 8 steps, by a count that is its state. */
final class DoublingPeriod implements SyncPolicyPlugin {
  private static final int MOST = 3;

  /** Rounds that the policies made by it were told of. */
  private final List<SyncPolicy.AppliedRound> told = new ArrayList<>();

  List<SyncPolicy.AppliedRound> told() {
    return told;
  }

  Chosen<SyncPolicyPlugin> chosen() {
    return new Chosen<>(this, Options.usual(this));
  }

  @Override
  public String name() {
    return "doubling";
  }

  @Override
  public String description() {
    return "Doubles the length of rounds.";
  }

  @Override
  public SyncPolicy create(Options options) {
    return new SyncPolicy() {
      private final long[] rounds = {0};

      @Override
      public List<Section> state() {
        return List.of(Section.of("rounds", rounds));
      }

      @Override
      public int period() {
        return 1 << Math.min(MOST, rounds[0]);
      }

      @Override
      public void applied(AppliedRound round) {
        rounds[0]++;
        told.add(round);
      }
    };
  }
}
