package dev.kastor.operator.recording;

import dev.kastor.scheduler.live.LiveDocument.NodeDocument;
import dev.kastor.scheduler.live.RecordingDocument.NodeSpan;
import dev.kastor.scheduler.model.Node;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Recording of which nodes were there when; owned by the recorder. */
final class RecordedNodes {
  /** Most times of nodes that are gone. */
  private static final int MOST_GONE = 4000;

  private final Map<String, NodeSpan> present = new LinkedHashMap<>();
  private final Deque<NodeSpan> gone = new ArrayDeque<>();

  void see(List<Node> nodes, Instant now) {
    Set<String> seen = new HashSet<>();
    for (Node node : nodes) {
      seen.add(node.name());
      // A recording tells what a node is, not how fast it was found to be meanwhile.
      present.merge(
          node.name(),
          new NodeSpan(NodeDocument.of(node.withSlowdown(1)), now.toString(), null),
          RecordedNodes::newer);
    }
    if (seen.size() < present.size()) {
      present
          .values()
          .removeIf(span -> {
            boolean left = !seen.contains(span.node().name());
            if (left) {
              gone.addLast(new NodeSpan(span.node(), span.from(), now.toString()));
            }
            return left;
          });
      while (gone.size() > MOST_GONE) {
        gone.removeFirst();
      }
    }
  }

  /**
   * Slots that others hold for a while do not make it another node: the most that it had counts.
   */
  private static NodeSpan newer(NodeSpan old, NodeSpan now) {
    return now.node().slots() > old.node().slots()
        ? new NodeSpan(now.node(), old.from(), null)
        : old;
  }

  List<NodeSpan> spans() {
    List<NodeSpan> all = new ArrayList<>(gone);
    all.addAll(present.values());
    all.sort(Comparator.comparing(span -> Instant.parse(span.from())));
    return all;
  }
}
