package dev.kastor.operator.web;

import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.whatif.Supposition;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Changes that somebody asks about, as the body of a request. At least one is there.
 *
 * @param policy another one, with its options
 * @param nodes more or fewer of a GPU type
 * @param queue another quota
 * @param priority another priority
 * @param like a job, NAMESPACE/NAME, of which there is to be one more
 */
record WhatIfQuestion(
    @Nullable String policy,
    @Nullable NodesChange nodes,
    @Nullable QuotaChange queue,
    @Nullable PriorityChange priority,
    @Nullable String like) {
  private static final int MOST_NODES = 1000;

  /** So many nodes more, or fewer where negative. */
  record NodesChange(int count, String gpuType) {}

  /** A queue and its GPUs. */
  record QuotaChange(String name, int gpus) {}

  /** A job, NAMESPACE/NAME, and its priority. */
  record PriorityChange(String job, int priority) {}

  WhatIfQuestion {
    if (policy == null && nodes == null && queue == null && priority == null && like == null) {
      throw new IllegalArgumentException(
          "name at least one change: policy, nodes, queue, priority or like");
    }
    if (nodes != null && (nodes.count() == 0 || Math.abs((long) nodes.count()) > MOST_NODES)) {
      throw new IllegalArgumentException(
          "nodes.count must be from 1 to %d, or as many fewer, but is %d"
              .formatted(MOST_NODES, nodes.count()));
    }
    if (nodes != null && nodes.gpuType() == null) {
      throw new IllegalArgumentException("nodes.gpuType must be a GPU type of the cluster");
    }
    if (queue != null && (queue.name() == null || queue.gpus() < 0)) {
      throw new IllegalArgumentException("queue must have a name and gpus of at least 0");
    }
  }

  /** The changes but for a job more. */
  List<Supposition> suppositions() {
    List<Supposition> all = new ArrayList<>();
    if (policy != null) {
      all.add(new Supposition.Policy(policy));
    }
    if (nodes != null) {
      all.add(new Supposition.Nodes(nodes.count(), nodes.gpuType()));
    }
    if (queue != null) {
      all.add(new Supposition.QueueQuota(queue.name(), queue.gpus()));
    }
    if (priority != null) {
      all.add(new Supposition.Priority(job(priority.job(), "priority.job"), priority.priority()));
    }
    return all;
  }

  /** The job of a field. */
  static JobId job(@Nullable String text, String field) {
    int slash = text == null ? -1 : text.indexOf('/');
    if (text == null || slash < 1 || slash == text.length() - 1) {
      throw new IllegalArgumentException("%s must be NAMESPACE/NAME".formatted(field));
    }
    return new JobId(text.substring(0, slash), text.substring(slash + 1));
  }
}
