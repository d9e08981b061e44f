package dev.kastor.operator.pods;

import dev.kastor.crds.client.ContainerWait;
import dev.kastor.operator.kube.StoredTime;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import java.time.Instant;
import java.util.Optional;

/** Why a pod does not run yet, in the words of those who start it. */
public final class PodTrouble {
  private PodTrouble() {}

  /** What holds the pod up; empty if it runs or nobody complains. */
  public static Optional<String> of(Pod pod) {
    return ContainerWait.of(pod)
        .map(wait -> ", container %s: %s".formatted(wait.container(), wait.reason()))
        .or(() ->
            unschedulable(pod)
                .map(condition ->
                    ": %s: %s".formatted(condition.getReason(), condition.getMessage())))
        .map(trouble -> pod.getMetadata().getName() + trouble);
  }

  /** What will not get better by waiting, in the words of the kubelet; empty if all else may. */
  public static Optional<String> lasting(Pod pod) {
    return ContainerWait.of(pod)
        .filter(ContainerWait::lasting)
        .map(wait ->
            "%s, container %s: %s"
                .formatted(pod.getMetadata().getName(), wait.container(), wait.reason()));
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
