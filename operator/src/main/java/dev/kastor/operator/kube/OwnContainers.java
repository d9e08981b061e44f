package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Containers of a pod that the operator asked for. They alone decide when the pod has ended and
 * how: a webhook may have put others beside them, such as the proxy of a service mesh, which never
 * end or end in their own way.
 */
public final class OwnContainers {
  private final List<ContainerStatus> statuses;
  private final List<ContainerStatus> others;
  private final boolean all;

  private OwnContainers(List<ContainerStatus> statuses, List<ContainerStatus> others, boolean all) {
    this.statuses = statuses;
    this.others = others;
    this.all = all;
  }

  /** Writes into a pod that is not made yet which containers it has. */
  public static void mark(Pod pod) {
    pod.getMetadata()
        .getAnnotations()
        .put(
            Labels.CONTAINERS,
            pod.getSpec().getContainers().stream()
                .map(Container::getName)
                .collect(Collectors.joining(",")));
  }

  /** The containers of a pod; of one that is not marked, all are its own. */
  public static OwnContainers of(Pod pod) {
    List<ContainerStatus> there =
        pod.getStatus() == null ? List.of() : pod.getStatus().getContainerStatuses();
    String marked =
        Optional.ofNullable(pod.getMetadata())
            .map(metadata -> metadata.getAnnotations())
            .map(annotations -> annotations.get(Labels.CONTAINERS))
            .orElse(null);
    if (marked == null) {
      return new OwnContainers(there, List.of(), !there.isEmpty());
    }
    Set<String> names = Set.of(marked.split(","));
    List<ContainerStatus> own = new ArrayList<>();
    List<ContainerStatus> others = new ArrayList<>();
    there.forEach(status -> (names.contains(status.getName()) ? own : others).add(status));
    return new OwnContainers(own, others, own.size() == names.size());
  }

  /** Whether none of them runs any more. */
  public boolean ended() {
    return all && statuses.stream().allMatch(status -> terminated(status).isPresent());
  }

  /** Whether they have ended and others beside them have not. */
  public boolean outlived() {
    return ended() && others.stream().anyMatch(status -> terminated(status).isEmpty());
  }

  /** Whether one of them runs or has run. */
  public boolean begun() {
    return statuses.isEmpty()
        || statuses.stream()
            .anyMatch(status ->
                terminated(status).isPresent()
                    || (status.getState() != null && status.getState().getRunning() != null));
  }

  /** When the last of those that run began; empty if none runs. */
  public Optional<Instant> running() {
    return statuses.stream()
        .map(ContainerStatus::getState)
        .filter(Objects::nonNull)
        .map(ContainerState::getRunning)
        .filter(Objects::nonNull)
        .flatMap(running -> StoredTime.of(running.getStartedAt()).stream())
        .max(Comparator.naturalOrder());
  }

  /** The end of the first that failed, else of the first that ended; empty if none has. */
  public Optional<ContainerStateTerminated> end() {
    List<ContainerStateTerminated> ends =
        statuses.stream().flatMap(status -> terminated(status).stream()).toList();
    return ends.stream()
        .filter(end -> end.getExitCode() != null && end.getExitCode() != 0)
        .findFirst()
        .or(() -> ends.stream().findFirst());
  }

  private static Optional<ContainerStateTerminated> terminated(ContainerStatus status) {
    return status.getState() == null
        ? Optional.empty()
        : Optional.ofNullable(status.getState().getTerminated());
  }
}
