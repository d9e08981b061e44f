package dev.kastor.simulator.run;

import dev.kastor.plugin.Chosen;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * One replay to be made.
 *
 * @param mode whose rules of time hold
 * @param profiles the applications' file or folder
 * @param workload the workload's path, as given
 * @param cluster the nodes
 * @param policy the policy with its options
 * @param seed of all random choices
 * @param round time between decisions
 * @param load how many times faster than in the file jobs arrive
 * @param conditions what disturbs it
 * @param familyMemory whether jobs of one family learn from each other
 * @param categories what policies may change about each job, where the workload's own word does not
 *     hold
 */
public record Run(
    Mode mode,
    Path profiles,
    String workload,
    ClusterShape cluster,
    Chosen<PolicyPlugin> policy,
    long seed,
    Duration round,
    double load,
    Conditions conditions,
    boolean familyMemory,
    Optional<DrawnCategories> categories) {
  public Run {
    if (!round.isPositive() || !round.equals(Duration.ofSeconds(round.toSeconds()))) {
      throw new IllegalArgumentException(
          "a round must be a positive number of whole seconds, not " + round);
    }
    if (!(load > 0 && Double.isFinite(load))) {
      throw new IllegalArgumentException("a load must be above 0, not " + load);
    }
    if (mode != Mode.EVENTS && cluster.hasAttributes()) {
      throw new IllegalArgumentException(
          "mode %s knows no prices, spot nodes or racks (cluster %s). Use mode events."
              .formatted(mode.label(), cluster));
    }
    if (mode != Mode.EVENTS && conditions.needEvents()) {
      throw new IllegalArgumentException(
          "mode %s knows no live rescale, failures, resizes, autoscaling, interruptions, noise, lost or late reports, stragglers or budgets. Use mode events."
              .formatted(mode.label()));
    }
  }

  /** A replay whose jobs may be changed as the workload says. */
  public Run(
      Mode mode,
      Path profiles,
      String workload,
      ClusterShape cluster,
      Chosen<PolicyPlugin> policy,
      long seed,
      Duration round,
      double load,
      Conditions conditions,
      boolean familyMemory) {
    this(
        mode,
        profiles,
        workload,
        cluster,
        policy,
        seed,
        round,
        load,
        conditions,
        familyMemory,
        Optional.empty());
  }

  /** A replay whose jobs learn alone. */
  public Run(
      Mode mode,
      Path profiles,
      String workload,
      ClusterShape cluster,
      Chosen<PolicyPlugin> policy,
      long seed,
      Duration round,
      double load,
      Conditions conditions) {
    this(mode, profiles, workload, cluster, policy, seed, round, load, conditions, false);
  }

  /** The same with another seed. */
  public Run withSeed(long other) {
    return new Run(
        mode,
        profiles,
        workload,
        cluster,
        policy,
        other,
        round,
        load,
        conditions,
        familyMemory,
        categories);
  }

  /** Short, for a line of progress. */
  public String label() {
    return "%s%s, %s on %s%s, seed %d"
        .formatted(
            policy,
            familyMemory ? " with memory" : "",
            workload,
            cluster,
            load == 1 ? "" : String.format(Locale.ROOT, " at load %s", load),
            seed);
  }
}
