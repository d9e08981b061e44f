package dev.kastor.operator.job;

import dev.kastor.operator.cluster.SlotCount;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Pods whose making had no clear answer: they may be there or not. Whoever wants a slot of their
 * node asks first. Thread-safe.
 */
final class UnansweredPods {
  private final Map<String, Pod> pods = new ConcurrentHashMap<>();

  /** A request to make this pod failed in a way that may have made it. */
  void add(Pod pod) {
    pods.put(pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName(), pod);
  }

  /**
   * Asks for those that are meant for these nodes; returns those that are there. One is forgotten
   * only when the answer is in.
   */
  List<Pod> settle(Set<String> nodes, Function<Pod, Optional<Pod>> ask) {
    List<Pod> there = new ArrayList<>();
    for (var entry : pods.entrySet()) {
      if (nodes.contains(SlotCount.nodeOf(entry.getValue()))) {
        ask.apply(entry.getValue()).ifPresent(there::add);
        pods.remove(entry.getKey());
      }
    }
    return there;
  }
}
