package dev.kastor.crds.client;

import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Container of a pod that does not run yet, and the reason in the words of the kubelet.
 *
 * @param container its name
 * @param reason such as {@code ErrImagePull}, with the kubelet's message if there is one
 */
public record ContainerWait(String container, String reason) {
  /** Reasons that somebody has to mend: no time does. */
  private static final Set<String> LASTING =
      Set.of("InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError");

  /** Reasons of a pull that failed, of which only the words tell whether it may succeed later. */
  private static final Set<String> PULL = Set.of("ErrImagePull", "ImagePullBackOff");

  /** Words of registries about an image that they do not have or do not give. */
  private static final List<String> REFUSED =
      List.of(
          "manifest unknown",
          "not found",
          "does not exist",
          "access denied",
          "unauthorized",
          "403 Forbidden");

  /** Reasons of waiting that every container passes through. */
  private static final Set<String> USUAL = Set.of("ContainerCreating", "PodInitializing");

  /**
   * The first such container, init containers before others; empty if the kubelet complains of
   * none.
   */
  public static Optional<ContainerWait> of(Pod pod) {
    if (pod.getStatus() == null) {
      return Optional.empty();
    }
    return Stream.concat(
            pod.getStatus().getInitContainerStatuses().stream(),
            pod.getStatus().getContainerStatuses().stream())
        .flatMap(status -> wait(status).stream())
        .findFirst();
  }

  /**
   * Whether it is not going to run before somebody mends the pod, or what the pod names: an image,
   * a Secret, a ConfigMap.
   */
  public boolean lasting() {
    String word = reason.split(":", 2)[0];
    return (LASTING.contains(word) && !reason.contains("timed out"))
        || (PULL.contains(word) && REFUSED.stream().anyMatch(reason::contains));
  }

  private static Optional<ContainerWait> wait(ContainerStatus status) {
    return Optional.ofNullable(status.getState())
        .map(ContainerState::getWaiting)
        .filter(waiting -> waiting.getReason() != null && !USUAL.contains(waiting.getReason()))
        .map(waiting ->
            new ContainerWait(Objects.requireNonNullElse(status.getName(), ""), said(waiting)));
  }

  private static String said(ContainerStateWaiting waiting) {
    return waiting.getReason() + (waiting.getMessage() == null ? "" : ": " + waiting.getMessage());
  }
}
