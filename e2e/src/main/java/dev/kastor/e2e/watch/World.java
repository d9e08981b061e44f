package dev.kastor.e2e.watch;

import dev.kastor.crds.Queue;
import dev.kastor.crds.TrainingJob;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What can be seen of a cluster at one time.
 *
 * @param pods by uid
 * @param jobs by uid
 * @param nodes by uid
 * @param queues by uid
 * @param processes of training on all nodes
 * @param userDeleted jobs, as {@code namespace/name}, that their users have deleted
 * @param now when it was so
 */
record World(
    Map<String, Pod> pods,
    Map<String, TrainingJob> jobs,
    Map<String, Node> nodes,
    Map<String, Queue> queues,
    List<AgentProcess> processes,
    Set<String> userDeleted,
    Instant now) {

  World {
    processes = List.copyOf(processes);
    userDeleted = Set.copyOf(userDeleted);
  }

  /** Pods that were made for a job. */
  Collection<Pod> jobPods() {
    return pods.values().stream().filter(pod -> Pods.owner(pod).isPresent()).toList();
  }
}
