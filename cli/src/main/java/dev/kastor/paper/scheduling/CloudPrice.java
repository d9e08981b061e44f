package dev.kastor.paper.scheduling;

import dev.kastor.local.Installation;
import dev.kastor.local.LocalException;
import dev.kastor.paper.Measured;
import dev.kastor.paper.PaperException;
import dev.kastor.paper.Trial;
import dev.kastor.scheduler.advice.NodeRules;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.event.Autoscaling;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.run.Conditions;
import dev.kastor.simulator.run.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Price of one training of {@code imagenet} on a cluster that follows the advice on its size, over
 * the price on the cluster of a fixed size that takes as long, which lies between two of those that
 * are replayed. The paper compares with a cluster that grows with throughput; the fixed one is the
 * stricter opponent, as its size is chosen with the result at hand.
 */
final class CloudPrice {
  private static final String WORKLOAD =
      """
      name,submitSeconds,application,minReplicas,maxReplicas,requestedReplicas
      imagenet-1,0,imagenet,1,64,4
      """;

  /** The band of the documentation's example; it was not tried out on this training. */
  private static final NodeRules RULES = NodeRules.parse("0.55:0.75:1-16");

  private static final Duration NODE_DELAY = Duration.ofMinutes(3);
  private static final List<Integer> SIZES = List.of(1, 2, 3, 4, 6, 8, 10, 12, 16);
  private static final int SEEDS = 3;

  private CloudPrice() {}

  static Measured of(Trial trial) throws PaperException, InterruptedException {
    try {
      Path profiles = Installation.current().root().resolve("traces/profiles/fitted.csv");
      Path workload = Files.createTempFile("kastor-imagenet", ".csv");
      try {
        Files.writeString(workload, WORKLOAD);
        return of(trial, profiles, workload);
      } finally {
        Files.deleteIfExists(workload);
      }
    } catch (IOException | LocalException e) {
      throw new PaperException(String.valueOf(e.getMessage()), e);
    }
  }

  private static Measured of(Trial trial, Path profiles, Path workload)
      throws PaperException, InterruptedException {
    List<Integer> sizes = trial.reduced() ? List.of(4, 16) : SIZES;
    int seeds = trial.reduced() ? 1 : SEEDS;
    List<Run> runs = new ArrayList<>();
    for (int nodes : sizes) {
      runs.add(run(profiles, workload, nodes, trial.seed(), Optional.empty()));
    }
    for (int i = 0; i < seeds; i++) {
      runs.add(
          run(
              profiles,
              workload,
              1,
              trial.seed() + i,
              Optional.of(new Autoscaling(RULES, NODE_DELAY))));
    }
    List<Replay> replays = Replays.all(runs, trial);
    List<Replay> fixed =
        replays.subList(0, sizes.size()).stream()
            .sorted(Comparator.comparingDouble(Replay::averageSeconds))
            .toList();
    double[] ratios =
        replays.subList(sizes.size(), replays.size()).stream()
            .mapToDouble(replay -> replay.nodeMoney() / price(fixed, replay.averageSeconds()))
            .sorted()
            .toArray();
    return new Measured(
        Arrays.stream(ratios).average().orElseThrow(),
        ratios[0],
        ratios[ratios.length - 1],
        "lowest to highest of %d seeds from %d".formatted(seeds, trial.seed()));
  }

  private static Run run(
      Path profiles, Path workload, int nodes, long seed, Optional<Autoscaling> autoscaling) {
    Conditions plain = Conditions.PLAIN;
    return new Run(
        Mode.EVENTS,
        profiles,
        workload.toString(),
        ClusterShape.parse("t4=%dx4:price=1".formatted(nodes)),
        Policies.choose("pollux"),
        seed,
        Duration.ofSeconds(60),
        1,
        new Conditions(
            plain.interference(),
            plain.liveRescale(),
            plain.failures(),
            plain.resizes(),
            plain.adversity(),
            autoscaling,
            plain.interruptionsPerDay(),
            plain.queues(),
            plain.pace()),
        false);
  }

  /**
   * The price of a fixed cluster that takes so long, linearly between the two nearest; beyond them
   * that of the last.
   *
   * @param fixed by rising time
   */
  static double price(List<Replay> fixed, double seconds) {
    Replay before = fixed.getFirst();
    for (Replay after : fixed) {
      if (seconds <= after.averageSeconds()) {
        double span = after.averageSeconds() - before.averageSeconds();
        double share = span > 0 ? Math.max(0, seconds - before.averageSeconds()) / span : 1;
        return before.nodeMoney() + share * (after.nodeMoney() - before.nodeMoney());
      }
      before = after;
    }
    return before.nodeMoney();
  }
}
