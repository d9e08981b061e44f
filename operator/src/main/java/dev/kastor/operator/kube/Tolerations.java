package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Tolerations of pods and taints of nodes, by the rules of Kubernetes. */
public final class Tolerations {
  private Tolerations() {}

  /** The taints of a node. */
  public static List<Taint> taints(Node node) {
    return orEmpty(node.getSpec() == null ? null : node.getSpec().getTaints());
  }

  /** Tolerations of a pod. */
  public static List<Toleration> of(PodSpec pod) {
    return orEmpty(pod.getTolerations());
  }

  /** Whether one of them tolerates the taint. */
  public static boolean tolerate(List<Toleration> tolerations, Taint taint) {
    return tolerations.stream().anyMatch(each -> tolerates(each, taint));
  }

  private static boolean tolerates(Toleration toleration, Taint taint) {
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
