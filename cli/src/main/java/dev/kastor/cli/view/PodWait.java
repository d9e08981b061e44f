package dev.kastor.cli.view;

import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;
import java.util.Set;

/** Reason for which the containers of a pod do not run yet, in the words of the kubelet. */
public final class PodWait {
  /** Reasons of waiting that every container passes through. */
  private static final Set<String> USUAL = Set.of("ContainerCreating", "PodInitializing");

  private PodWait() {}

  /** The reason and what is said about it; empty if the pod runs or nobody complains. */
  public static Optional<String> of(Pod pod) {
    if (pod.getStatus() == null || pod.getStatus().getContainerStatuses() == null) {
      return Optional.empty();
    }
    for (ContainerStatus container : pod.getStatus().getContainerStatuses()) {
      ContainerStateWaiting waiting =
          container.getState() == null ? null : container.getState().getWaiting();
      if (waiting != null && waiting.getReason() != null && !USUAL.contains(waiting.getReason())) {
        String message = waiting.getMessage() == null ? "" : ": " + waiting.getMessage();
        return Optional.of(waiting.getReason() + message);
      }
    }
    return Optional.empty();
  }
}
