package dev.kastor.operator.kube;

import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Store of the pods that an informer keeps: each reduced to a {@link LeanPod}, and found by its
 * name, the job that it claims, or its node.
 *
 * <p>It has indices of its own, as those of an informer miss a pod in the moment in which the pod
 * changes: whoever counts pods then would take its slot for free.
 */
final class PodStore extends BasicItemStore<Pod> {
  private final PodIndex<JobId> byJob =
      new PodIndex<>(pod -> Provenance.claim(pod).map(Provenance.Claim::job));
  private final PodIndex<String> on = new PodIndex<>(PodPlace::on);
  private final PodIndex<String> meant = new PodIndex<>(PodStore::meant);

  PodStore() {
    super(Cache::metaNamespaceKeyFunc);
  }

  @Override
  public Pod put(String key, Pod pod) {
    Pod kept = LeanPod.of(pod);
    Pod before = super.put(key, kept);
    replace(before, kept);
    return before;
  }

  @Override
  public Pod remove(String key) {
    Pod before = super.remove(key);
    replace(before, null);
    return before;
  }

  /** The pods that claim to be of a job, true or not. */
  Collection<Pod> claiming(JobId job) {
    return byJob.get(job);
  }

  /** The pods that are on a node. */
  Collection<Pod> on(String node) {
    return on.get(node);
  }

  /**
   * The pods that say they were made for a node, and are on none yet. Asked before {@link #on}, a
   * pod that gets there meanwhile is met twice, never not at all.
   */
  Collection<Pod> meantFor(String node) {
    return meant.get(node);
  }

  private void replace(@Nullable Pod before, @Nullable Pod after) {
    byJob.replace(before, after);
    on.replace(before, after);
    meant.replace(before, after);
  }

  private static Optional<String> meant(Pod pod) {
    return Optional.of(PodPlace.meant(pod))
        .filter(node -> Provenance.claim(pod).isPresent())
        .filter(node -> PodPlace.on(pod).isEmpty())
        .filter(node -> pod.getMetadata().getDeletionTimestamp() == null);
  }
}
