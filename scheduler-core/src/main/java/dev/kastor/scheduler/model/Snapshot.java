package dev.kastor.scheduler.model;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The cluster at one instant.
 *
 * @param now the instant
 * @param nodes nodes in name order
 * @param jobs unfinished jobs that want to run, in submission order, then by id
 * @param queues queues by their names, those with a weight of their own at least
 * @param closed nodes that take no further replicas of a job, by job, with the words for it; most
 *     jobs have none
 */
public record Snapshot(
    Instant now,
    List<Node> nodes,
    List<JobState> jobs,
    Map<String, Queue> queues,
    Map<JobId, Map<String, String>> closed) {
  public Snapshot {
    closed = Map.copyOf(closed);
    nodes = List.copyOf(nodes);
    jobs = List.copyOf(jobs);
    queues = Map.copyOf(queues);
    queues.forEach((name, queue) -> {
      if (!name.equals(queue.name())) {
        throw new IllegalArgumentException(
            "queues has queue '%s' under the name '%s'".formatted(queue.name(), name));
      }
    });
  }

  /** A cluster in which every node takes every job. */
  public Snapshot(Instant now, List<Node> nodes, List<JobState> jobs, Map<String, Queue> queues) {
    this(now, nodes, jobs, queues, Map.of());
  }

  /** A cluster whose queues all weigh the same. */
  public Snapshot(Instant now, List<Node> nodes, List<JobState> jobs) {
    this(now, nodes, jobs, Map.of());
  }

  /** The queue of this name; of the default weight if it is not listed. */
  public Queue queue(String name) {
    Queue listed = queues.get(name);
    return listed == null ? new Queue(name) : listed;
  }

  /** Nodes that take no further replicas of a job, with the words for it. */
  public Map<String, String> closed(JobId job) {
    return closed.getOrDefault(job, Map.of());
  }

  /** The same with other jobs. */
  public Snapshot withJobs(List<JobState> others) {
    return new Snapshot(now, nodes, others, queues, closed);
  }

  /** All slots of all nodes. */
  public int totalSlots() {
    int slots = 0;
    for (Node node : nodes) {
      slots += node.slots();
    }
    return slots;
  }
}
