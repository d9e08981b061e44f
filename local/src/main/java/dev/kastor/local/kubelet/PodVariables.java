package dev.kastor.local.kubelet;

import java.util.List;
import java.util.Map;

/** Variables that this machine gives the process of a pod beside those of its container. */
@FunctionalInterface
public interface PodVariables {
  /** None. */
  PodVariables NONE = (_, _) -> Map.of();

  /**
   * The variables of a pod; those that its container has by the same names stay.
   *
   * @param container variables of its container
   * @param command of its process
   */
  Map<String, String> of(Map<String, String> container, List<String> command);
}
