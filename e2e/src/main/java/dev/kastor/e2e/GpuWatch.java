package dev.kastor.e2e;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts from outside which GPUs are taken: by every pod on a node, or meant for one, that has not
 * ended, as the API server tells it.
 *
 * <p>Thread-safe.
 */
public final class GpuWatch implements AutoCloseable {
  private static final String GPU = "nvidia.com/gpu";
  private static final String MEANT_FOR = "kastor.dev/node";
  private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

  private final Map<String, Pod> holders = new HashMap<>();
  private final Map<String, Integer> most = new TreeMap<>();
  private final SharedIndexInformer<Pod> informer;

  private final KubernetesClient client;

  /** Watches from now on until it is closed. */
  public GpuWatch(KubernetesClient client) {
    this.client = client;
    informer =
        client
            .pods()
            .inAnyNamespace()
            .inform(
                new ResourceEventHandler<>() {
                  @Override
                  public void onAdd(Pod pod) {
                    seen(pod, false);
                  }

                  @Override
                  public void onUpdate(Pod before, Pod after) {
                    seen(after, false);
                  }

                  @Override
                  public void onDelete(Pod pod, boolean unknown) {
                    seen(pod, true);
                  }
                });
  }

  /** The most GPUs that were taken at one time, by node. */
  public synchronized Map<String, Integer> most() {
    return Map.copyOf(most);
  }

  /** GPUs that a node has; none if there is no such node. */
  int of(String name) {
    Node node = client.nodes().withName(name).get();
    Quantity has = node == null ? null : node.getStatus().getAllocatable().get(GPU);
    return has == null ? 0 : has.getNumericalAmount().intValue();
  }

  /** GPUs that are taken now. */
  public synchronized int taken() {
    return holders.values().stream().mapToInt(GpuWatch::gpus).sum();
  }

  @Override
  public void close() {
    informer.close();
  }

  private synchronized void seen(Pod pod, boolean gone) {
    String uid = pod.getMetadata().getUid();
    String node = node(pod);
    if (gone || node == null || ENDED.contains(pod.getStatus().getPhase()) || gpus(pod) == 0) {
      holders.remove(uid);
      return;
    }
    holders.put(uid, pod);
    int now =
        holders.values().stream()
            .filter(other -> node.equals(node(other)))
            .mapToInt(GpuWatch::gpus)
            .sum();
    most.merge(node, now, Math::max);
  }

  private static @Nullable String node(Pod pod) {
    String bound = pod.getSpec().getNodeName();
    Map<String, String> annotations = pod.getMetadata().getAnnotations();
    return bound != null || annotations == null ? bound : annotations.get(MEANT_FOR);
  }

  private static int gpus(Pod pod) {
    int gpus = 0;
    for (Container container : pod.getSpec().getContainers()) {
      Quantity limit = container.getResources().getLimits().get(GPU);
      gpus += limit == null ? 0 : limit.getNumericalAmount().intValue();
    }
    return gpus;
  }
}
