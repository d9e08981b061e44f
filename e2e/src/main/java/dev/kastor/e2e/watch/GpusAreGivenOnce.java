package dev.kastor.e2e.watch;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** On no node do pods that are there or meant for it hold more GPUs than it was built with. */
final class GpusAreGivenOnce implements Rule {
  /** A kubelet that starts anew takes its GPUs back for a moment; they are there all the same. */
  private final Map<String, Integer> built = new HashMap<>();

  @Override
  public List<Finding> broken(World world) {
    for (Node node : world.nodes().values()) {
      built.merge(
          node.getMetadata().getName(), Pods.gpus(node.getStatus().getCapacity()), Math::max);
    }
    Map<String, List<Pod>> holders = new TreeMap<>();
    for (Pod pod : world.pods().values()) {
      if (!Pods.ended(pod) && Pods.gpus(pod) > 0) {
        world
            .node(pod)
            .ifPresent(node -> holders.computeIfAbsent(node, key -> new ArrayList<>()).add(pod));
      }
    }
    List<Finding> findings = new ArrayList<>();
    holders.forEach((node, pods) -> {
      int taken = pods.stream().mapToInt(Pods::gpus).sum();
      int has = built.getOrDefault(node, 0);
      if (taken > has && built.containsKey(node)) {
        findings.add(
            new Finding(
                "no GPU is over-committed",
                node + " " + taken,
                "%d GPUs of %d are held by %s"
                    .formatted(taken, has, pods.stream().map(Pods::name).sorted().toList())));
      }
    });
    return findings;
  }
}
