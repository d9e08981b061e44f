package dev.kastor.e2e.cluster;

import dev.kastor.e2e.watch.Mirror;
import dev.kastor.e2e.watch.Pods;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Count from outside of the GPUs that are taken: by every pod on a node, or meant for one, that has
 * not ended, as the API server tells it. Pods of two times are never counted together, also where
 * the API server was away.
 *
 * <p>Thread-safe.
 */
public final class GpuWatch implements AutoCloseable {
  private final Map<String, Taken> most = new TreeMap<>();
  private final KubernetesClient client;
  private final Mirror<Pod> pods;
  private Map<String, Integer> taken = Map.of();

  /** Watches from now on until it is closed. */
  public GpuWatch(KubernetesClient client) {
    this.client = client;
    // The first look waits for its mirror.
    synchronized (this) {
      pods = new Mirror<>(Pods.alive(client.pods().inAnyNamespace()), "gpus", this::look);
    }
  }

  /**
   * GPUs of a node at one moment.
   *
   * @param gpus how many were taken
   * @param at when that was seen
   * @param pods who had them
   */
  public record Taken(int gpus, Instant at, List<String> pods) {
    @Override
    public String toString() {
      return "%d at %s:%n  %s".formatted(gpus, at, String.join("%n  ".formatted(), pods));
    }
  }

  /** The moment when the most GPUs were taken, by node. */
  public synchronized Map<String, Taken> most() {
    return Map.copyOf(most);
  }

  /** GPUs that a node has; none if there is no such node. */
  public int of(String name) {
    Node node = client.nodes().withName(name).get();
    Quantity has = node == null ? null : node.getStatus().getAllocatable().get(Pods.GPU);
    return has == null ? 0 : has.getNumericalAmount().intValue();
  }

  /** GPUs that are taken now. */
  public synchronized int taken() {
    return taken.values().stream().mapToInt(Integer::intValue).sum();
  }

  @Override
  public void close() {
    pods.close();
  }

  private synchronized void look() {
    Map<String, List<Pod>> holders = new HashMap<>();
    for (Pod pod : pods.objects().values()) {
      Pods.node(pod)
          .ifPresent(node -> holders.computeIfAbsent(node, _ -> new ArrayList<>()).add(pod));
    }
    Map<String, Integer> now = new HashMap<>();
    holders.forEach((node, all) -> {
      int gpus = all.stream().mapToInt(Pods::gpus).sum();
      now.put(node, gpus);
      Taken before = most.get(node);
      if (before == null || gpus > before.gpus()) {
        most.put(node, new Taken(gpus, Instant.now(), told(all)));
      }
    });
    taken = now;
  }

  /** What tells who meant them for there, and when. */
  private static List<String> told(List<Pod> pods) {
    return pods.stream()
        .sorted(Comparator.comparing(pod -> pod.getMetadata().getCreationTimestamp()))
        .map(pod ->
            "%s/%s %s made %s%s%s"
                .formatted(
                    pod.getMetadata().getNamespace(),
                    pod.getMetadata().getName(),
                    pod.getStatus().getPhase(),
                    pod.getMetadata().getCreationTimestamp(),
                    pod.getSpec().getNodeName() == null ? ", on no node yet" : "",
                    pod.getMetadata().getDeletionTimestamp() == null ? "" : ", ending"))
        .toList();
  }
}
