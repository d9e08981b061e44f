package dev.kastor.engine.sync;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.engine.train.SyncPolicy;
import dev.kastor.engine.train.SyncPolicyPlugin;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import dev.kastor.training.ServerChoice;
import java.util.List;
import java.util.Optional;

/**
 * Parameters on servers, with which workers exchange instead of with each other (Li et al., OSDI
 * 2014), with backup workers (Chen et al., 2016) or without steps.
 */
final class ParameterServers implements SyncPolicyPlugin {
  private static final Option<Integer> SERVERS =
      Option.count("servers", 1, "processes that share the parameters and the optimizer's vectors")
          .where(
              value -> value >= 1 && value <= ServerChoice.MOST, "from 1 to " + ServerChoice.MOST);

  private static final Option<Mode> MODE =
      Option.choice(
          "mode",
          Mode.class,
          Mode.STEPS,
          "whether shares of all workers make a step, or each is applied as it comes");

  private static final Option<Integer> BACKUP =
      Option.count("backup", 0, "workers more than a step needs; they hide slow ones")
          .where(value -> value >= 0, "of at least 0");

  private static final Option<Integer> MOST_STALENESS =
      Option.count(
              "mostStaleness",
              0,
              "updates between a worker's reading of the parameters and its own; 0 for no limit")
          .where(value -> value >= 0, "of at least 0");

  /** Order in which shares of workers become updates. */
  private enum Mode {
    STEPS,
    ASYNCHRONOUS
  }

  @Override
  public String name() {
    return "parameter-server";
  }

  @Override
  public String description() {
    return "Keeps the parameters on servers, with which each worker exchanges by itself.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(SERVERS, MODE, BACKUP, MOST_STALENESS);
  }

  @Override
  public Optional<ServerPlan> servers(Options options) {
    return Optional.of(
        new ServerPlan(
            options.get(SERVERS),
            options.get(MODE) == Mode.ASYNCHRONOUS,
            options.get(BACKUP),
            options.get(MOST_STALENESS)));
  }

  /** Steps without rounds: a worker changes nothing between two exchanges. */
  @Override
  public SyncPolicy create(Options options) {
    return EveryStep.POLICY;
  }

  /** A period of one step. */
  private enum EveryStep implements SyncPolicy {
    POLICY;

    @Override
    public List<Section> state() {
      return List.of();
    }

    @Override
    public int period() {
      return 1;
    }

    @Override
    public void applied(AppliedRound round) {}
  }
}
