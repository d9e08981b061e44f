package dev.kastor.scheduler.live;

import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Snapshot;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Cluster at one instant as its operator knows it: what the operator's policy is told, which policy
 * that is, and when it decides.
 *
 * @param now the instant
 * @param policy the policy with its options, as {@code kastor.policy} names it
 * @param seed seed of the policy
 * @param round longest time between two rounds
 * @param delay time from an event that asks for a round to the round
 * @param nodes nodes in name order
 * @param queues queues by their names
 * @param jobs unfinished jobs that want to run, in submission order
 * @param held jobs that are not listed: they may not start for now, whatever is free
 */
public record LiveCluster(
    Instant now,
    String policy,
    long seed,
    Duration round,
    Duration delay,
    List<Node> nodes,
    Map<String, Queue> queues,
    List<LiveJob> jobs,
    int held) {
  public LiveCluster {
    nodes = List.copyOf(nodes);
    queues = Map.copyOf(queues);
    jobs = List.copyOf(jobs);
    if (!round.isPositive() || delay.isNegative() || delay.compareTo(round) > 0) {
      throw new IllegalArgumentException(
          "round (%s) must be positive and delay (%s) between 0 and round".formatted(round, delay));
    }
  }

  /** What the policy is told. */
  public Snapshot snapshot() {
    return new Snapshot(now, nodes, jobs.stream().map(LiveJob::state).toList(), queues);
  }

  /** The same under another policy. */
  public LiveCluster withPolicy(String other) {
    return new LiveCluster(now, other, seed, round, delay, nodes, queues, jobs, held);
  }

  /** The same with other nodes. */
  public LiveCluster withNodes(List<Node> others) {
    return new LiveCluster(now, policy, seed, round, delay, others, queues, jobs, held);
  }

  /** The same with other queues. */
  public LiveCluster withQueues(Map<String, Queue> others) {
    return new LiveCluster(now, policy, seed, round, delay, nodes, others, jobs, held);
  }

  /** The same with other jobs. */
  public LiveCluster withJobs(List<LiveJob> others) {
    return new LiveCluster(now, policy, seed, round, delay, nodes, queues, others, held);
  }

  /** The same with one job more, the last that was submitted. */
  public LiveCluster plus(LiveJob added) {
    List<LiveJob> all = new ArrayList<>(jobs);
    all.add(added);
    return withJobs(all);
  }
}
