package dev.kastor.operator.web;

import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ServerPod;
import dev.kastor.operator.telemetry.UpdateCounts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Parameter servers of one job.
 *
 * @param pods those that have not ended, by index
 * @param staleness asynchronous updates by how many others came between the reading of the
 *     parameters and the update, from 0; the last counts all greater ones as well. Empty where
 *     steps are synchronous
 * @param droppedCopies shares of steps that came after a copy of the same share
 */
public record ServersView(List<ServerView> pods, List<Long> staleness, long droppedCopies) {
  /** More rows than these say nothing more to a person; metrics have all. */
  private static final int MOST_COUNTS = 16;

  /**
   * One server.
   *
   * @param index which shard it has
   * @param pod name of its pod
   * @param node where it is; empty while no node has it
   * @param running whether its process runs
   */
  public record ServerView(int index, String pod, String node, boolean running) {
    private static ServerView of(ServerPod server) {
      PodView view = server.view();
      return new ServerView(
          server.index(), view.name(), view.node(), view.state() == PodView.State.RUNNING);
    }
  }

  static ServersView of(List<ServerPod> servers, UpdateCounts updates) {
    return new ServersView(
        servers.stream()
            .filter(server -> !server.view().ended())
            .sorted(
                Comparator.comparingInt(ServerPod::index)
                    .thenComparingLong(server -> server.view().number()))
            .map(ServerView::of)
            .toList(),
        folded(updates.byStaleness()),
        updates.droppedCopies());
  }

  /** Counts of which the last has those of all greater values, too. */
  static List<Long> folded(List<Long> counts) {
    if (counts.size() <= MOST_COUNTS) {
      return counts;
    }
    List<Long> folded = new ArrayList<>(counts.subList(0, MOST_COUNTS - 1));
    folded.add(
        counts.subList(MOST_COUNTS - 1, counts.size()).stream().mapToLong(Long::longValue).sum());
    return folded;
  }
}
