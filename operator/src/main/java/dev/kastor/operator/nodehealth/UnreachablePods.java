package dev.kastor.operator.nodehealth;

import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.Labels;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removal of pods whose node is gone for certain, which no kubelet will remove. */
@Singleton
final class UnreachablePods {
  private static final Logger LOG = LoggerFactory.getLogger(UnreachablePods.class);
  private static final String OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

  private final KubernetesClient client;
  private final ClusterCache cache;

  UnreachablePods(KubernetesClient client, ClusterCache cache) {
    this.client = client;
    this.cache = cache;
  }

  /** Deletes those of these pods of which nothing can run any more. */
  void delete(List<Pod> pods) {
    pods.stream().filter(this::goneForCertain).forEach(this::forceDelete);
  }

  /** Nothing of the pod can run any more: its node object is gone, or a person vouches for it. */
  private boolean goneForCertain(Pod pod) {
    String name = pod.getSpec().getNodeName();
    if (name == null || name.isEmpty()) {
      return false;
    }
    Optional<Node> node = cache.node(name);
    return node.isEmpty() || taints(node.get()).stream().anyMatch(UnreachablePods::outOfService);
  }

  private void forceDelete(Pod pod) {
    try {
      client.pods().resource(pod).withGracePeriod(0).delete();
      LOG.warn(
          "{}: {} is removed without its kubelet, for node {} is gone",
          Labels.job(pod).orElseThrow(),
          pod.getMetadata().getName(),
          pod.getSpec().getNodeName());
    } catch (KubernetesClientException e) {
      LOG.warn("pod {} could not be removed: {}", pod.getMetadata().getName(), e.getMessage());
    }
  }

  private static boolean outOfService(Taint taint) {
    return OUT_OF_SERVICE.equals(taint.getKey());
  }

  private static List<Taint> taints(Node node) {
    return node.getSpec() == null || node.getSpec().getTaints() == null
        ? List.of()
        : node.getSpec().getTaints();
  }
}
