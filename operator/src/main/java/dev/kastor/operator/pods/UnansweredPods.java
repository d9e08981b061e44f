package dev.kastor.operator.pods;

import dev.kastor.operator.kube.PodPlace;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Pods whose making had no clear answer: they may be there or not, and hold their slots until that
 * is known. Whoever wants a slot of their node asks first. Thread-safe.
 */
final class UnansweredPods {
  private final Map<String, Pod> pods = new ConcurrentHashMap<>();

  /** A request to make this pod failed in a way that may have made it. */
  void add(Pod pod) {
    pods.put(key(pod), pod);
  }

  /** Those that are meant for a node. */
  List<Pod> on(String node) {
    return pods.values().stream().filter(pod -> PodPlace.meant(pod).equals(node)).toList();
  }

  /**
   * Asks for those that are meant for these nodes. One is forgotten when the answer is in, and
   * after it was passed on if it is there: at no moment does nobody count it.
   */
  void settle(Set<String> nodes, Function<Pod, Optional<Pod>> ask, Consumer<Pod> there) {
    for (Pod asked : List.copyOf(pods.values())) {
      if (nodes.contains(PodPlace.meant(asked))) {
        ask.apply(asked).ifPresent(there);
        pods.remove(key(asked));
      }
    }
  }

  private static String key(Pod pod) {
    return pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
  }
}
