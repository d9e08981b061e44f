package dev.kastor.operator.leader;

import dev.kastor.operator.kube.Tolerations;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Map;

/**
 * Whether a node would take a pod by its selector and tolerations; kube-scheduler, which looks at
 * more than that, has the last word.
 */
final class PodFit {
  private PodFit() {}

  /**
   * Whether the node has the labels that the pod asks for and no taint that it does not bear, one
   * that only puts others off included.
   */
  static boolean fits(Pod pod, Node node) {
    Map<String, String> labels = node.getMetadata().getLabels();
    Map<String, String> asked = pod.getSpec().getNodeSelector();
    boolean selected =
        asked == null
            || asked.isEmpty()
            || (labels != null && labels.entrySet().containsAll(asked.entrySet()));
    return selected
        && Tolerations.taints(node).stream()
            .allMatch(taint -> Tolerations.tolerate(Tolerations.of(pod.getSpec()), taint));
  }
}
