package dev.kastor.operator.web;

import dev.kastor.operator.forecast.FutureReplays;
import dev.kastor.plugin.Registry;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.policy.PolicyPlugin;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Choices that a question about the future has on a cluster.
 *
 * @param policy that decides
 * @param policies names of all
 * @param nodes how many there are, by GPU type
 * @param queues with their quotas, in name order
 * @param jobs with their priorities, in submission order
 * @param mostJobs with more than that, nothing is replayed here
 */
record WhatIfChoices(
    String policy,
    List<String> policies,
    List<NodesChoice> nodes,
    List<QueueChoice> queues,
    List<JobChoice> jobs,
    int mostJobs) {
  /** Nodes of a GPU type. */
  record NodesChoice(String gpuType, long nodes) {}

  /** A queue; {@code gpus} is null without a quota. */
  record QueueChoice(String name, @Nullable Integer gpus) {}

  /** A job. */
  record JobChoice(String namespace, String name, int priority) {}

  static WhatIfChoices of(LiveCluster cluster, Registry<PolicyPlugin> policies) {
    return new WhatIfChoices(
        cluster.policy(),
        policies.names(),
        cluster.nodes().stream()
            .collect(Collectors.groupingBy(Node::gpuType, TreeMap::new, Collectors.counting()))
            .entrySet()
            .stream()
            .map(entry -> new NodesChoice(entry.getKey(), entry.getValue()))
            .toList(),
        new TreeMap<>(cluster.queues())
            .values().stream()
                .map(queue ->
                    new QueueChoice(queue.name(), queue.quota().map(Quota::gpus).orElse(null)))
                .toList(),
        cluster.jobs().stream()
            .map(job ->
                new JobChoice(job.id().namespace(), job.id().name(), job.state().spec().priority()))
            .toList(),
        FutureReplays.MOST_JOBS);
  }
}
