package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Pods that the operator made and that were on no node yet when it last looked.
 *
 * <p>They hold their slots whatever their job is given meanwhile: until such a pod is asked to
 * leave, kube-scheduler may bind it, and it then holds its GPUs until its grace period ends. Any
 * other pod that passes for a job's counts for what the job is given now, as every user who may
 * make pods can make one. Thread-safe.
 */
@Singleton
public final class ComingPods {
  private final Map<String, Set<String>> byNode = new ConcurrentHashMap<>();

  /** Adds a pod that the operator made; call once those who look for pods can find it. */
  public void add(Pod made) {
    byNode
        .computeIfAbsent(PodPlace.meant(made), node -> ConcurrentHashMap.newKeySet())
        .add(made.getMetadata().getUid());
  }

  /** True of a pod on its way that the operator made. */
  public boolean contains(Pod coming) {
    return on(PodPlace.meant(coming)).contains(coming.getMetadata().getUid());
  }

  /** Uids of those that were made for a node; call before looking which of them still come. */
  public Set<String> on(String node) {
    return Set.copyOf(byNode.getOrDefault(node, Set.of()));
  }

  /**
   * Forgets those that come no more.
   *
   * @param known uids of pods that were made for the node before the others were looked for
   * @param coming pods that are on their way to it
   */
  public void keep(String node, Set<String> known, Collection<Pod> coming) {
    Set<String> still =
        coming.stream().map(pod -> pod.getMetadata().getUid()).collect(Collectors.toSet());
    byNode.computeIfPresent(
        node,
        (name, uids) -> {
          uids.removeIf(uid -> known.contains(uid) && !still.contains(uid));
          return uids;
        });
  }
}
