package dev.kastor.simulator.event;

import dev.kastor.scheduler.advice.NodeRules;
import dev.kastor.simulator.ClusterShape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The cluster with each group as large as it will ever be. */
final class Largest {
  private Largest() {}

  static ClusterShape of(
      ClusterShape initial, List<Resize> resizes, Optional<Autoscaling> autoscaling) {
    Map<String, Integer> most = new HashMap<>();
    initial.groups().forEach(group -> most.put(group.gpuType(), group.nodes()));
    for (Resize resize : resizes) {
      if (most.computeIfPresent(resize.gpuType(), (type, nodes) -> Math.max(nodes, resize.nodes()))
          == null) {
        throw new IllegalArgumentException(
            "the cluster %s has no nodes of GPU type '%s' to resize"
                .formatted(initial, resize.gpuType()));
      }
    }
    autoscaling.ifPresent(follows -> widen(most, initial, follows.rules()));
    List<ClusterShape.Group> groups = new ArrayList<>();
    for (ClusterShape.Group group : initial.groups()) {
      groups.add(
          new ClusterShape.Group(
              group.gpuType(),
              most.getOrDefault(group.gpuType(), group.nodes()),
              group.gpusPerNode()));
    }
    return new ClusterShape(groups);
  }

  private static void widen(Map<String, Integer> most, ClusterShape initial, NodeRules rules) {
    for (String type : rules.ranges().keySet()) {
      if (!type.isEmpty() && !most.containsKey(type)) {
        throw new IllegalArgumentException(
            "the cluster %s has no nodes of GPU type '%s' to scale".formatted(initial, type));
      }
    }
    most.replaceAll((type, nodes) ->
        rules.range(type).map(range -> Math.max(nodes, range.max())).orElse(nodes));
  }
}
