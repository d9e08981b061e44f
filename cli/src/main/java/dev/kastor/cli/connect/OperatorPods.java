package dev.kastor.cli.connect;

import dev.kastor.cli.view.EventView;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The operator's own pods and what happened to them, for those who may see them. */
public final class OperatorPods {
  private static final String NAME_LABEL = "app.kubernetes.io/name";
  private static final String NAME = "kastor";
  private static final int FORBIDDEN = 403;

  private OperatorPods() {}

  /** Pods of the chart's Deployment; none in local mode or where they may not be listed. */
  public static List<Pod> of(Cluster cluster) {
    try {
      return cluster.client().pods().inAnyNamespace().withLabel(NAME_LABEL, NAME).list().getItems();
    } catch (KubernetesClientException e) {
      if (e.getCode() == FORBIDDEN) {
        return List.of();
      }
      throw e;
    }
  }

  /** The pod that decides: the holder of a Lease of its namespace, else any that is ready. */
  static @Nullable Pod leader(Cluster cluster) {
    List<Pod> ready = of(cluster).stream().filter(OperatorPods::ready).toList();
    for (Pod pod : ready) {
      if (ready.size() > 1 && holds(cluster, pod)) {
        return pod;
      }
    }
    return ready.isEmpty() ? null : ready.getFirst();
  }

  /** Whether Kubernetes says that the pod is ready. */
  public static boolean ready(Pod pod) {
    return pod.getStatus() != null
        && pod.getStatus().getConditions().stream()
            .anyMatch(c -> "Ready".equals(c.getType()) && "True".equals(c.getStatus()));
  }

  private static boolean holds(Cluster cluster, Pod pod) {
    return leases(cluster, pod.getMetadata().getNamespace()).stream()
        .anyMatch(lease -> pod.getMetadata().getName().equals(lease.getSpec().getHolderIdentity()));
  }

  /** Leases of a namespace; none where they may not be listed. */
  public static List<Lease> leases(Cluster cluster, String namespace) {
    try {
      return cluster.client().leases().inNamespace(namespace).list().getItems();
    } catch (KubernetesClientException e) {
      if (e.getCode() == FORBIDDEN) {
        return List.of();
      }
      throw e;
    }
  }

  /** Events of the operator's namespace; none where they may not be listed. */
  public static List<EventView> events(Cluster cluster, String namespace) {
    try {
      return cluster.client().v1().events().inNamespace(namespace).list().getItems().stream()
          .map(EventView::of)
          .toList();
    } catch (KubernetesClientException e) {
      if (e.getCode() == FORBIDDEN) {
        return List.of();
      }
      throw e;
    }
  }

  /** Whether an event is about the operator: a pod of it, its Deployment or its Lease. */
  public static boolean concerns(EventView event, List<Pod> operator) {
    return operator.stream()
        .map(Pod::getMetadata)
        .anyMatch(pod ->
            pod.getNamespace().equals(event.namespace())
                && (pod.getName().equals(event.object())
                    || pod.getName().startsWith(event.object() + "-")));
  }
}
