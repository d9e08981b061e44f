package dev.kastor.operator.leader;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

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
        && orEmpty(node.getSpec() == null ? null : node.getSpec().getTaints()).stream()
            .allMatch(taint ->
                orEmpty(pod.getSpec().getTolerations()).stream()
                    .anyMatch(toleration -> bears(toleration, taint)));
  }

  private static boolean bears(Toleration toleration, Taint taint) {
    String key = toleration.getKey();
    boolean exists = "Exists".equals(toleration.getOperator());
    boolean any = key == null || key.isEmpty();
    if (any ? !exists : !taint.getKey().equals(key)) {
      return false;
    }
    String effect = toleration.getEffect();
    if (effect != null && !effect.isEmpty() && !effect.equals(taint.getEffect())) {
      return false;
    }
    return exists
        || Objects.requireNonNullElse(toleration.getValue(), "")
            .equals(Objects.requireNonNullElse(taint.getValue(), ""));
  }

  private static <T> List<T> orEmpty(@Nullable List<T> list) {
    return list == null ? List.of() : list;
  }
}
