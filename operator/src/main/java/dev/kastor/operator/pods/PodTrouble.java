package dev.kastor.operator.pods;

import dev.kastor.operator.kube.StoredTime;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Why a pod does not run yet, in the words of those who start it. */
public final class PodTrouble {
  /** Reasons of waiting that every container passes through. */
  private static final Set<String> USUAL = Set.of("ContainerCreating", "PodInitializing");

  private PodTrouble() {}

  /** What holds the pod up; empty if it runs or nobody complains. */
  public static Optional<String> of(Pod pod) {
    PodStatus status = pod.getStatus();
    if (status == null) {
      return Optional.empty();
    }
    List<ContainerStatus> containers = new ArrayList<>(status.getInitContainerStatuses());
    containers.addAll(status.getContainerStatuses());
    for (ContainerStatus container : containers) {
      ContainerStateWaiting waiting =
          container.getState() == null ? null : container.getState().getWaiting();
      if (waiting != null && waiting.getReason() != null && !USUAL.contains(waiting.getReason())) {
        return Optional.of(
            "%s, container %s: %s%s"
                .formatted(
                    pod.getMetadata().getName(),
                    container.getName(),
                    waiting.getReason(),
                    waiting.getMessage() == null ? "" : ": " + waiting.getMessage()));
      }
    }
    return unschedulable(pod)
        .map(condition ->
            "%s: %s: %s"
                .formatted(
                    pod.getMetadata().getName(), condition.getReason(), condition.getMessage()));
  }

  /** Since when no node takes the pod, though nothing but kube-scheduler holds it up. */
  public static Optional<Instant> unschedulableSince(Pod pod) {
    return unschedulable(pod).map(PodCondition::getLastTransitionTime).flatMap(StoredTime::of);
  }

  private static Optional<PodCondition> unschedulable(Pod pod) {
    return pod.getStatus() == null
        ? Optional.empty()
        : pod.getStatus().getConditions().stream()
            .filter(condition -> "PodScheduled".equals(condition.getType()))
            .filter(condition -> "False".equals(condition.getStatus()))
            .filter(condition -> "Unschedulable".equals(condition.getReason()))
            .findFirst();
  }
}
