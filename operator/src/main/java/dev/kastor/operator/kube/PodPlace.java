package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Place of a pod: the node that it is on, or the one that it is meant for. */
public final class PodPlace {
  private PodPlace() {}

  /**
   * The node that the pod is on.
   *
   * <p>Whoever makes a pod can name any node in it. It counts when a scheduler has bound the pod to
   * it or its kubelet has taken the pod, which both say in the status: a kubelet refuses pods that
   * find no free slots.
   */
  public static Optional<String> on(Pod pod) {
    String node = pod.getSpec().getNodeName();
    return node != null && !node.isEmpty() && taken(pod.getStatus())
        ? Optional.of(node)
        : Optional.empty();
  }

  /** The node that a pod of ours is on or was made for; empty if that is open. */
  public static String meant(Pod pod) {
    String node = pod.getSpec().getNodeName();
    if (node != null && !node.isEmpty()) {
      return node;
    }
    Map<String, String> annotations = pod.getMetadata().getAnnotations();
    return annotations == null ? "" : annotations.getOrDefault(Labels.NODE, "");
  }

  /** When the pod was asked to leave; empty if it was not. */
  public static Optional<Instant> askedToLeave(Pod pod) {
    // The stored time is that at which its grace ends.
    Long grace = pod.getMetadata().getDeletionGracePeriodSeconds();
    return StoredTime.of(pod.getMetadata().getDeletionTimestamp())
        .map(end -> end.minusSeconds(grace == null ? 0 : grace));
  }

  static @Nullable String phase(Pod pod) {
    return pod.getStatus() == null ? null : pod.getStatus().getPhase();
  }

  private static boolean taken(@Nullable PodStatus status) {
    if (status == null) {
      return false;
    }
    return status.getStartTime() != null
        || (status.getPhase() != null && !"Pending".equals(status.getPhase()))
        || status.getConditions().stream()
            .anyMatch(condition ->
                "PodScheduled".equals(condition.getType()) && "True".equals(condition.getStatus()));
  }
}
