package dev.kastor.operator.nodehealth;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When kubelets last said that they live: each renews a Lease every ten seconds, far more often
 * than the Ready condition changes. Read for single nodes that are under suspicion. Used by one
 * thread.
 */
@Singleton
public final class KubeletLeases {
  private static final Logger LOG = LoggerFactory.getLogger(KubeletLeases.class);
  private static final int MOST_AT_ONCE = 20;
  private static final String NAMESPACE = "kube-node-lease";

  private final KubernetesClient client;
  private final Map<String, Instant> newest = new HashMap<>();
  private boolean forbidden;

  public KubeletLeases(KubernetesClient client) {
    this.client = client;
  }

  /**
   * A look at leases, which asks the API server for few at a time and only for those that may have
   * grown old: when a node's kubelet renewed its lease, by the node's clock; empty if nobody can
   * tell.
   */
  Function<String, Optional<Instant>> look(Duration age, Instant now) {
    newest.values().removeIf(at -> !now.isBefore(at.plus(age)));
    int[] asked = {0};
    return node -> {
      Instant known = newest.get(node);
      if (known != null) {
        return Optional.of(known);
      }
      if (forbidden || asked[0]++ >= MOST_AT_ONCE) {
        return Optional.empty();
      }
      Optional<Instant> renewed = ask(node);
      renewed.ifPresent(at -> newest.put(node, at));
      return renewed;
    };
  }

  /** Returns whether leases may be read, as far as is known. */
  boolean readable() {
    return !forbidden;
  }

  private Optional<Instant> ask(String node) {
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
