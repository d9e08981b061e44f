package dev.kastor.operator.pods;

import dev.kastor.operator.kube.PodName;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Pod of a parameter server.
 *
 * @param index which shard of the parameters it has, from 0
 * @param view the pod; it holds no slots
 */
public record ServerPod(int index, PodView view) {
  /** The server in a pod; empty if the pod's name is that of a replica. */
  static Optional<ServerPod> of(Pod pod) {
    OptionalInt index = PodName.serverIndex(pod.getMetadata().getName());
    return index.isPresent()
        ? Optional.of(new ServerPod(index.getAsInt(), PodView.of(pod)))
        : Optional.empty();
  }

  /** The servers among these pods. */
  public static List<ServerPod> of(List<Pod> pods) {
    return pods.stream().flatMap(pod -> of(pod).stream()).toList();
  }

  /** The pods of these servers. */
  public static List<PodView> views(List<ServerPod> servers) {
    return servers.stream().map(ServerPod::view).toList();
  }

  /** Its pod's name. */
  public String name() {
    return view.name();
  }
}
