package dev.kastor.simulator.event;

import dev.kastor.scheduler.advice.NodeRules;
import dev.kastor.simulator.replay.ClusterShape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The cluster with the nodes of each GPU type as many as they will ever be; those beyond what there
 * is at first are like the last group of their type.
 */
public final class Largest {
  private Largest() {}

  /**
   * The cluster at its largest.
   *
   * @throws IllegalArgumentException if a GPU type is to be resized that it does not have
   */
  public static ClusterShape of(
      ClusterShape initial, List<Resize> resizes, Optional<Autoscaling> autoscaling) {
    Map<String, Integer> most = new HashMap<>();
    initial.groups().forEach(group -> most.merge(group.gpuType(), group.nodes(), Integer::sum));
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
    for (ClusterShape.Group group : initial.groups().reversed()) {
      // The first that comes by from the end takes what is to be added.
      int present =
          initial.groups().stream()
              .filter(other -> other.gpuType().equals(group.gpuType()))
              .mapToInt(ClusterShape.Group::nodes)
              .sum();
      int added = most.getOrDefault(group.gpuType(), present) - present;
      most.put(group.gpuType(), present);
      groups.addFirst(added > 0 ? group.of(group.nodes() + added) : group);
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
