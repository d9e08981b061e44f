package dev.kastor.operator.leader;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The label by which the Service finds the pod of the leader.
 *
 * <p>It only leads the way: a pod that has it and does not lead answers 503.
 */
final class LeaderLabel {
  static final String KEY = "kastor.dev/leader";
  static final String VALUE = "true";

  private static final Logger LOG = LoggerFactory.getLogger(LeaderLabel.class);

  private final KubernetesClient client;
  private final String namespace;
  private final Optional<String> pod;
  private boolean settled;

  /**
   * @param pod our own pod; empty outside a cluster, where nothing is labelled
   */
  LeaderLabel(KubernetesClient client, String namespace, Optional<String> pod) {
    this.client = client;
    this.namespace = namespace;
    this.pod = pod;
  }

  /** Makes ours the only pod with the label; tries again with the next call if that failed. */
  void take() {
    if (settled || pod.isEmpty()) {
      return;
    }
    settled =
        attempt(
            "given",
            () -> {
              patch(pod.get(), "\"" + VALUE + "\"");
              for (Pod other :
                  client.pods().inNamespace(namespace).withLabel(KEY, VALUE).list().getItems()) {
                String name = other.getMetadata().getName();
                if (!name.equals(pod.get())) {
                  // Of a leader that could not take it off, as its node is gone.
                  patch(name, "null");
                }
              }
            });
  }

  /** Takes the label off our pod, be it that an earlier process of this pod left it there. */
  void drop() {
    settled = false;
    pod.ifPresent(own -> attempt("taken off", () -> patch(own, "null")));
  }

  private boolean attempt(String what, Runnable work) {
    try {
      work.run();
      return true;
    } catch (KubernetesClientException e) {
      LOG.warn("label {} could not be {}: {}", KEY, what, e.getMessage());
      return false;
    }
  }

  private void patch(String name, String value) {
    client
        .pods()
        .inNamespace(namespace)
        .withName(name)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"labels\":{\"%s\":%s}}}".formatted(KEY, value));
  }
}
