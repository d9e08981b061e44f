package dev.kastor.cli.view;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Pods of parameter servers among those of a job, by the labels that the operator gives them. */
public final class ServerPods {
  private static final String ROLE = "kastor.dev/role";
  private static final String SERVER = "server";
  private static final String INDEX = "kastor.dev/server-index";

  private ServerPods() {}

  /** The index of a parameter server's pod; empty for the pod of a replica. */
  public static OptionalInt index(Pod pod) {
    Map<String, String> labels =
        Optional.ofNullable(pod.getMetadata().getLabels()).orElse(Map.of());
    String index = labels.getOrDefault(INDEX, "");
    return SERVER.equals(labels.get(ROLE)) && index.matches("[0-9]{1,3}")
        ? OptionalInt.of(Integer.parseInt(index))
        : OptionalInt.empty();
  }

  /** True for the pod of a parameter server. */
  public static boolean is(Pod pod) {
    return index(pod).isPresent();
  }
}
