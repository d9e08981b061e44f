package dev.kastor.operator.start;

import dev.kastor.operator.kube.OwnContainers;
import dev.kastor.operator.kube.StoredTime;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import java.time.Instant;
import java.util.Optional;

/**
 * Times that a pod's status tells, by the clocks of others: those of Kubernetes have whole seconds.
 *
 * @param scheduled when it was bound to its node
 * @param container when its container ran, the last one of several
 */
public record PodTimes(Optional<Instant> scheduled, Optional<Instant> container) {
  /** A pod of which nothing is known. */
  public static final PodTimes UNKNOWN = new PodTimes(Optional.empty(), Optional.empty());

  /** The times of a pod. */
  public static PodTimes of(Pod pod) {
    if (pod.getStatus() == null) {
      return UNKNOWN;
    }
    return new PodTimes(
        pod.getStatus().getConditions().stream()
            .filter(condition -> "PodScheduled".equals(condition.getType()))
            .filter(condition -> "True".equals(condition.getStatus()))
            .map(PodCondition::getLastTransitionTime)
            .flatMap(time -> StoredTime.of(time).stream())
            .findFirst(),
        OwnContainers.of(pod).running());
  }
}
