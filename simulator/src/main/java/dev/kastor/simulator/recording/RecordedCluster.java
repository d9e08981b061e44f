package dev.kastor.simulator.recording;

import dev.kastor.scheduler.live.LiveDocument.NodeDocument;
import dev.kastor.scheduler.live.RecordingDocument.NodeSpan;
import dev.kastor.simulator.event.Resize;
import dev.kastor.simulator.replay.ClusterShape;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Nodes of a recording as the cluster of a replay.
 *
 * @param shape as many nodes of each kind as there ever were at once
 * @param resizes how many nodes of each GPU type there were when, from the start of the replay
 */
record RecordedCluster(ClusterShape shape, List<Resize> resizes) {
  RecordedCluster {
    resizes = List.copyOf(resizes);
  }

  /** A node that came, or went. */
  private record Step(Instant at, NodeDocument node, int sign) {}

  /**
   * The cluster of some spans.
   *
   * @param origin when the replay begins
   * @throws IllegalArgumentException if there never was a node with a slot
   */
  static RecordedCluster of(List<NodeSpan> spans, Instant origin) {
    List<Step> steps = new ArrayList<>();
    for (NodeSpan span : spans) {
      if (span.node().slots() > 0) {
        steps.add(new Step(Instant.parse(span.from()), span.node(), 1));
        if (span.until() != null) {
          steps.add(new Step(Instant.parse(span.until()), span.node(), -1));
        }
      }
    }
    if (steps.isEmpty()) {
      throw new IllegalArgumentException(
          "the recording has no node with a GPU. Name a cluster with --cluster.");
    }
    steps.sort(Comparator.comparing(Step::at));
    return new RecordedCluster(shape(steps), resizes(steps, origin));
  }

  private static ClusterShape shape(List<Step> steps) {
    SequencedMap<NodeDocument, Integer> now = new LinkedHashMap<>();
    SequencedMap<NodeDocument, Integer> most = new LinkedHashMap<>();
    for (Step step : steps) {
      NodeDocument node = step.node();
      NodeDocument kind =
          new NodeDocument(
              "",
              node.gpuType(),
              node.slots(),
              // Step times that were recorded on shared devices hold the sharing already.
              null,
              "",
              node.preemptible(),
              node.pricePerHour(),
              null);
      int count = now.merge(kind, step.sign(), Integer::sum);
      most.merge(kind, count, Math::max);
    }
    List<ClusterShape.Group> groups = new ArrayList<>();
    most.forEach((kind, count) ->
        groups.add(
            new ClusterShape.Group(
                kind.gpuType(), count, kind.slots(), kind.pricePerHour(), kind.preemptible(), 0)));
    return new ClusterShape(groups);
  }

  /** Steps before the start of the replay, or within a second of each other, are one. */
  private static List<Resize> resizes(List<Step> steps, Instant origin) {
    Map<String, Integer> count = new TreeMap<>();
    List<Resize> resizes = new ArrayList<>();
    for (Step step : steps) {
      count.merge(step.node().gpuType(), step.sign(), Integer::sum);
      Duration since = Duration.between(origin, step.at()).truncatedTo(ChronoUnit.SECONDS);
      Duration at = since.isNegative() ? Duration.ZERO : since;
      String type = step.node().gpuType();
      resizes.removeIf(known -> known.at().equals(at) && known.gpuType().equals(type));
      resizes.add(new Resize(at, type, count.getOrDefault(type, 0)));
    }
    return resizes;
  }

  /** Whether nodes came or went after the start. */
  boolean changes() {
    return resizes.stream().anyMatch(resize -> resize.at().isPositive());
  }
}
