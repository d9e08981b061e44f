package dev.kastor.simulator.event;

import dev.kastor.simulator.ClusterShape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The cluster with each group as large as it will ever be. */
final class Largest {
  private Largest() {}

  static ClusterShape of(ClusterShape initial, List<Resize> resizes) {
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
}
