package dev.kastor.operator.pods;

import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.PodIndex;
import dev.kastor.operator.kube.PodPlace;
import dev.kastor.operator.kube.ResourceVersions;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Pods that we made and that the cache has not shown yet, by job and by node: a question about one
 * costs nothing for pods of the others.
 *
 * <p>A pod is unseen until the cache shows it or is newer than it: versions of all objects of a
 * cluster grow together, so a pod that a newer cache lacks was removed. However long a watch is
 * away, its slot is not given to another. Thread-safe.
 */
final class UnseenPods {
  /** What the cache shows, and up to which version. */
  interface Cache {
    /** The version that the cache has reached; all of the pods are at least as new. */
    long version();

    /** Its pods of the job or on the node. */
    List<Pod> pods();
  }

  private final PodIndex<JobId> byJob = new PodIndex<>(Labels::job);
  private final PodIndex<String> byNode = new PodIndex<>(pod -> Optional.of(PodPlace.meant(pod)));

  /** Remembers a pod as the API server answered when it was made. */
  void add(Pod made) {
    byJob.add(made);
    byNode.add(made);
  }

  /** The pods that the cache shows of a job, and those that it does not show yet. */
  List<Pod> of(JobId job, Cache cache) {
    return with(byJob, job, cache);
  }

  /** The pods that the cache shows on a node, and those that it does not show yet. */
  List<Pod> on(String node, Cache cache) {
    return with(byNode, node, cache);
  }

  /** How many are remembered. */
  int size() {
    return byJob.size();
  }

  private <K> List<Pod> with(PodIndex<K> index, K place, Cache cache) {
    // Ours before the cache's: a pod that moves there meanwhile is met twice, never not at all.
    Collection<Pod> ours = index.get(place);
    // The version before the pods: they may be newer than it says, never older.
    long version = ours.isEmpty() ? 0 : cache.version();
    List<Pod> pods = new ArrayList<>(cache.pods());
    if (ours.isEmpty()) {
      return pods;
    }
    Set<String> shown = pods.stream().map(UnseenPods::key).collect(Collectors.toSet());
    for (Pod each : ours) {
      if (shown.contains(key(each)) || version(each) <= version) {
        byJob.remove(each);
        byNode.remove(each);
      } else {
        pods.add(each);
      }
    }
    return pods;
  }

  private static long version(Pod pod) {
    return ResourceVersions.of(pod.getMetadata().getResourceVersion());
  }

  private static String key(Pod pod) {
    return pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
  }
}
