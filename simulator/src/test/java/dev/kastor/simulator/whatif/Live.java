package dev.kastor.simulator.whatif;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.scheduler.whatif.Supposition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Live clusters whose future is known by hand: a step takes a second and counts one. */
final class Live {
  static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  static final Duration START = Duration.ofSeconds(15);
  static final Duration UNKNOWN = Duration.ofHours(1);

  private static final ThroughputParams SECOND = new ThroughputParams(1, 0, 0, 0, 0, 0, 1);

  private Live() {}

  /** A cluster under {@code fifo}, of nodes of so many slots each. */
  static LiveCluster cluster(List<Integer> slots, LiveJob... jobs) {
    List<Node> nodes = new ArrayList<>();
    for (int n = 0; n < slots.size(); n++) {
      nodes.add(new Node("n" + n, "t4", slots.get(n)));
    }
    return new LiveCluster(
        NOW,
        "fifo",
        1,
        Duration.ofSeconds(30),
        Duration.ofMillis(100),
        nodes,
        Map.of("research", new Queue("research")),
        List.of(jobs),
        0);
  }

  /** A rigid job of one replica that has so many steps of a second left; it waits. */
  static LiveJob waits(String name, double stepsLeft) {
    return job(name, Allocation.NONE, stepsLeft, "");
  }

  /** The same where it runs, since a minute. */
  static LiveJob runs(String name, String node, double stepsLeft) {
    return job(name, Allocation.on(node, 1), stepsLeft, "");
  }

  static LiveJob job(String name, Allocation allocation, double stepsLeft, String queue) {
    boolean runs = !allocation.isEmpty();
    JobSpec spec =
        new JobSpec(
                new JobId("team", name),
                NOW.minusSeconds(600),
                new Elasticity.Rigid(1),
                new BatchLimits(64, 64, 1, 64, true),
                "")
            .queued(queue, 0)
            .declaring(100 + stepsLeft);
    return new LiveJob(
        new JobState(
            spec,
            allocation,
            Optional.of(new GoodputModel(SECOND, new GradientStats(1, 0, 64))),
            1,
            Optional.of(new Progress(100, 100, 100 + stepsLeft, 6400, 0)),
            Duration.ofMinutes(10),
            runs ? 60 : 0,
            0,
            runs ? Duration.ofSeconds(2) : START,
            START,
            START,
            runs ? Duration.ofSeconds(60) : Duration.ZERO,
            runs ? Duration.ofSeconds(60) : Duration.ZERO,
            false,
            false,
            Outlook.NONE,
            Optional.empty()),
        false);
  }

  static WhatIf whatIf(LiveCluster cluster, Supposition... suppositions) {
    return WhatIf.of(cluster, List.of(suppositions), Live::policy, UNKNOWN, () -> false);
  }

  static PolicyFactory policy(String name, long seed) {
    return PolicyFactory.of(Policies.BUILT_IN.choose(name), PolicyContext.online(seed));
  }
}
