package dev.kastor.e2e;

import dev.kastor.e2e.watch.Mirror;
import dev.kastor.e2e.watch.Pods;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts from outside which GPUs are taken: by every pod on a node, or meant for one, that has not
 * ended, as the API server tells it. Pods of two times are never counted together, also where the
 * API server was away.
 *
 * <p>Thread-safe.
 */
public final class GpuWatch implements AutoCloseable {
  private final Map<String, Integer> most = new TreeMap<>();
  private final KubernetesClient client;
  private final Mirror<Pod> pods;
  private Map<String, Integer> taken = Map.of();

  /** Watches from now on until it is closed. */
  public GpuWatch(KubernetesClient client) {
    this.client = client;
    // The first look waits for its mirror.
    synchronized (this) {
      pods = new Mirror<>(client.pods().inAnyNamespace(), "gpus", this::look);
    }
  }

  /** The most GPUs that were taken at one time, by node. */
  public synchronized Map<String, Integer> most() {
    return Map.copyOf(most);
  }

  /** GPUs that a node has; none if there is no such node. */
  int of(String name) {
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
    Map<String, Integer> now = new HashMap<>();
    for (Pod pod : pods.objects().values()) {
      if (!Pods.ended(pod)) {
        Pods.node(pod).ifPresent(node -> now.merge(node, Pods.gpus(pod), Integer::sum));
      }
    }
    taken = now;
    now.forEach((node, gpus) -> most.merge(node, gpus, Math::max));
  }
}
