package dev.kastor.scheduler;

import java.time.Instant;
import java.util.List;

/**
 * The cluster at one instant.
 *
 * @param now the instant
 * @param nodes nodes in name order
 * @param jobs unfinished jobs that want to run, in submission order, then by id
 */
public record Snapshot(Instant now, List<Node> nodes, List<JobState> jobs) {
  public Snapshot {
    nodes = List.copyOf(nodes);
    jobs = List.copyOf(jobs);
  }

  /** All slots of all nodes. */
  public int totalSlots() {
    return nodes.stream().mapToInt(Node::slots).sum();
  }
}
