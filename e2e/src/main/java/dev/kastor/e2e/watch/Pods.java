package dev.kastor.e2e.watch;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** What pods say of themselves. */
public final class Pods {
  /** The resource. */
  public static final String GPU = "nvidia.com/gpu";

  private static final String MEANT_FOR = "kastor.dev/node";
  private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

  private Pods() {}

  /** Namespace and name. */
  static String name(HasMetadata object) {
    return object.getMetadata().getNamespace() + "/" + object.getMetadata().getName();
  }

  /** The uid of the job that a pod belongs to. */
  static Optional<String> owner(Pod pod) {
    return pod.getMetadata().getOwnerReferences().stream()
        .filter(owner -> "TrainingJob".equals(owner.getKind()))
        .map(OwnerReference::getUid)
        .findFirst();
  }

  /** The node that a pod is on or meant for. */
  public static Optional<String> node(Pod pod) {
    Map<String, String> annotations = pod.getMetadata().getAnnotations();
    return Optional.ofNullable(pod.getSpec().getNodeName())
        .or(() -> Optional.ofNullable(annotations == null ? null : annotations.get(MEANT_FOR)));
  }

  /** Those that have not ended: who watches them is told of the end as of a deletion. */
  public static FilterWatchListDeletable<Pod, PodList, PodResource> alive(
      FilterWatchListDeletable<Pod, PodList, PodResource> pods) {
    FilterWatchListDeletable<Pod, PodList, PodResource> alive = pods;
    for (String phase : ENDED) {
      alive = alive.withoutField("status.phase", phase);
    }
    return alive;
  }

  /** Whether it holds nothing any more. */
  public static boolean ended(Pod pod) {
    return ENDED.contains(pod.getStatus().getPhase());
  }

  /** GPUs that its containers may use. */
  public static int gpus(Pod pod) {
    int gpus = 0;
    for (Container container : pod.getSpec().getContainers()) {
      Quantity limit = container.getResources().getLimits().get(GPU);
      gpus += limit == null ? 0 : limit.getNumericalAmount().intValue();
    }
    return gpus;
  }

  /** GPUs among the resources of a node. */
  static int gpus(Map<String, Quantity> resources) {
    Quantity has = resources.get(GPU);
    return has == null ? 0 : has.getNumericalAmount().intValue();
  }

  /** What its containers wrote as their last words. */
  static List<String> lastWords(Pod pod) {
    return pod.getStatus().getContainerStatuses().stream()
        .map(ContainerStatus::getState)
        .filter(state -> state != null && state.getTerminated() != null)
        .map(state -> state.getTerminated().getMessage())
        .filter(Objects::nonNull)
        .toList();
  }
}
