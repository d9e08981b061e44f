package dev.kastor.operator.node;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When kubelets last said that they live: each renews a Lease every ten seconds, far more often
 * than the Ready condition changes. Read for single nodes that are under suspicion.
 */
@Singleton
public final class KubeletLeases {
  private static final Logger LOG = LoggerFactory.getLogger(KubeletLeases.class);
  private static final String NAMESPACE = "kube-node-lease";

  private final KubernetesClient client;
  private volatile boolean forbidden;

  public KubeletLeases(KubernetesClient client) {
    this.client = client;
  }

  /** When the node's kubelet renewed its lease, by the node's clock; empty if nobody can tell. */
  Optional<Instant> renewed(String node) {
    if (forbidden) {
      return Optional.empty();
    }
    try {
      Lease lease = client.leases().inNamespace(NAMESPACE).withName(node).get();
      return lease == null || lease.getSpec() == null || lease.getSpec().getRenewTime() == null
          ? Optional.empty()
          : Optional.of(lease.getSpec().getRenewTime().toInstant());
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
        forbidden = true;
        LOG.warn(
            "leases of {} may not be read, so a dead node is noticed only when it is not ready",
            NAMESPACE);
      }
      return Optional.empty();
    }
  }
}
