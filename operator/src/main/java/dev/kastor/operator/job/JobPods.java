package dev.kastor.operator.job;

import dev.kastor.crds.TrainingJob;
import dev.kastor.operator.OperatorConfig;
import dev.kastor.operator.cluster.ClusterCache;
import dev.kastor.operator.cluster.Labels;
import dev.kastor.operator.cluster.SlotCount;
import dev.kastor.scheduler.JobId;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The pods of jobs, with our own writes that the cache has not seen yet.
 *
 * <p>Without them a second look at a job within milliseconds would make its pods twice.
 */
@Singleton
public final class JobPods {
  /** A pod that the cache has not shown by then was removed before it was seen. */
  private static final Duration UNSEEN = Duration.ofSeconds(10);

  private record Created(Pod pod, Instant at) {}

  private final KubernetesClient client;
  private final ClusterCache cache;
  private final SlotCount slots;
  private final InstantSource clock;
  private final Map<String, Created> created = new ConcurrentHashMap<>();

  public JobPods(
      KubernetesClient client, ClusterCache cache, OperatorConfig config, InstantSource clock) {
    this.client = client;
    this.cache = cache;
    slots = new SlotCount(config.slotResource());
    this.clock = clock;
  }

  /** The pods that belong to this very job. */
  public List<PodView> of(TrainingJob job) {
    forgetSeen();
    String uid = job.getMetadata().getUid();
    List<Pod> pods =
        new ArrayList<>(
            cache.pods(Labels.id(job)).stream().filter(pod -> Labels.ownedBy(pod, uid)).toList());
    created.values().stream()
        .map(Created::pod)
        .filter(pod -> Labels.ownedBy(pod, uid))
        .filter(pod -> pods.stream().noneMatch(seen -> key(seen).equals(key(pod))))
        .forEach(pods::add);
    return PodView.of(pods);
  }

  /** Why pods of the job do not run yet, in the words of those who start them. */
  public List<String> troubles(TrainingJob job) {
    String uid = job.getMetadata().getUid();
    return cache.pods(Labels.id(job)).stream()
        .filter(pod -> Labels.ownedBy(pod, uid))
        .filter(SlotCount::occupies)
        .flatMap(pod -> PodTrouble.of(pod).stream())
        .sorted()
        .toList();
  }

  /** Slots of a node that nobody holds. */
  public int freeSlots(Node node) {
    forgetSeen();
    String name = node.getMetadata().getName();
    List<Pod> pods = new ArrayList<>(cache.podsOn(name));
    created.values().stream()
        .map(Created::pod)
        .filter(pod -> SlotCount.nodeOf(pod).equals(name))
        .filter(pod -> pods.stream().noneMatch(seen -> key(seen).equals(key(pod))))
        .forEach(pods::add);
    return slots.free(node, pods);
  }

  /** Makes a pod; one of that name that is there already is fine. */
  public void create(Pod pod) {
    try {
      Pod made = client.pods().inNamespace(pod.getMetadata().getNamespace()).resource(pod).create();
      created.put(key(made), new Created(made, clock.instant()));
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
    }
  }

  /** Removes a pod; one that is gone already is fine. */
  public void delete(TrainingJob job, PodView pod) {
    client.pods().inNamespace(job.getMetadata().getNamespace()).withName(pod.name()).delete();
  }

  /** Removes pods of ours whose job does not exist any more: not every API server does. */
  public void deleteOrphans() {
    for (Pod pod : cache.ourPods()) {
      boolean owned =
          cache.allJobs().stream().anyMatch(job -> Labels.ownedBy(pod, job.getMetadata().getUid()));
      if (!owned && pod.getMetadata().getDeletionTimestamp() == null) {
        client.pods().resource(pod).delete();
      }
    }
  }

  private void forgetSeen() {
    Instant old = clock.instant().minus(UNSEEN);
    created
        .entrySet()
        .removeIf(entry ->
            entry.getValue().at().isBefore(old)
                || cache.pods(jobOf(entry.getValue().pod())).stream()
                    .anyMatch(seen -> key(seen).equals(entry.getKey())));
  }

  private static JobId jobOf(Pod pod) {
    return Labels.job(pod).orElseThrow();
  }

  private static String key(Pod pod) {
    return pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
  }
}
