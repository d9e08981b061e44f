package dev.kastor.operator.pods;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.ClusterCache;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The scheduling gates of pods that start together: kube-scheduler looks at none before all of them
 * exist, and then checks each as it checks any pod.
 */
@Singleton
public final class Gates {
  /** Name of the gate; others may add gates of their own, which stay. */
  public static final String GANG = "kastor.dev/gang";

  /** What the cache has not shown by then was not done. */
  private static final Duration UNSEEN = Duration.ofSeconds(10);

  /** The answer to a test that fails. */
  private static final int UNPROCESSABLE = 422;

  private final KubernetesClient client;
  private final ClusterCache cache;
  private final InstantSource clock;
  private final Map<String, Instant> opened = new ConcurrentHashMap<>();

  public Gates(KubernetesClient client, ClusterCache cache, InstantSource clock) {
    this.client = client;
    this.cache = cache;
    this.clock = clock;
  }

  /** Whether the pod waits for others of its gang. */
  static boolean closed(Pod pod) {
    return pod.getSpec().getSchedulingGates().stream()
        .anyMatch(gate -> GANG.equals(gate.getName()));
  }

  /** Closes the gate of a pod that is not made yet. */
  public static void close(Pod pod) {
    pod.getSpec().getSchedulingGates().add(new PodSchedulingGate(GANG));
  }

  /**
   * Opens the gate of a pod; false if the pod changed meanwhile, so that it has to be tried again.
   */
  public boolean open(TrainingJob job, PodView view) {
    String namespace = job.getMetadata().getNamespace();
    Pod pod = cache.pod(namespace, view.name()).orElse(null);
    if (pod == null || !closed(pod)) {
      return pod != null;
    }
    Instant now = clock.instant();
    opened.values().removeIf(at -> at.isBefore(now.minus(UNSEEN)));
    if (opened.containsKey(pod.getMetadata().getUid())) {
      return true;
    }
    List<String> names =
        pod.getSpec().getSchedulingGates().stream().map(PodSchedulingGate::getName).toList();
    int index = names.indexOf(GANG);
    try {
      client
          .pods()
          .inNamespace(namespace)
          .withName(view.name())
          .patch(
              PatchContext.of(PatchType.JSON),
              """
              [{"op": "test", "path": "/spec/schedulingGates/%d/name", "value": "%s"},
               {"op": "remove", "path": "/spec/schedulingGates/%d"}]
              """
                  .formatted(index, GANG, index));
      opened.put(pod.getMetadata().getUid(), now);
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT
          || e.getCode() == HttpURLConnection.HTTP_NOT_FOUND
          || e.getCode() == UNPROCESSABLE) {
        return false;
      }
      throw e;
    }
  }

  /** Opens the gates of all these pods; false if one has to be tried again. */
  public boolean open(TrainingJob job, List<PodView> views) {
    boolean all = true;
    for (PodView view : views) {
      all &= open(job, view);
    }
    return all;
  }
}
